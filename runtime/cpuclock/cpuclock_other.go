//go:build !unix

// Package cpuclock measures the processor time of this process.
package cpuclock

import "time"

var began = time.Now()

// Used returns the time since the start: the processor time is unknown.
func Used() time.Duration { return time.Since(began) }
