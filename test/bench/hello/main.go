// Hello is the smallest program that prints a line: the floor of the time of a start.
package main

import "fmt"

func main() { fmt.Println("hello") }
