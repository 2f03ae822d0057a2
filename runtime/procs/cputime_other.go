//go:build !unix

package procs

import "time"

var began = time.Now()

// CPUTime returns the time since the start: the processor time is unknown.
func CPUTime() time.Duration { return time.Since(began) }
