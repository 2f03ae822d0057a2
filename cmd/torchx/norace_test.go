//go:build !race

package main

// manyStreams is the number of open pages, if there may be so many files.
const manyStreams = 10_000

// raceFlags are those of a program with the race detector: none.
var raceFlags []string
