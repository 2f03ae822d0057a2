//go:build race

package main

// manyStreams is the number of open pages. The race detector allows 8,128 goroutines.
const manyStreams = 1000

// raceFlags build torchx with the race detector too.
var raceFlags = []string{"-race"}
