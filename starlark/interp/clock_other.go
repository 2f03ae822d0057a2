//go:build !unix

package interp

import "time"

var began = time.Now()

// processCPU returns the time since the start: the processor time is unknown.
func processCPU() time.Duration { return time.Since(began) }
