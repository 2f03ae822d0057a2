package main

var topOrders = []string{"submitted", "cpu", "memory", "elapsed", "name"}
