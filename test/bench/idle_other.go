//go:build !linux

package main

import "errors"

const ticks = 100

func cpuTicks(int) (float64, error) { return 0, errors.New("the CPU time of a process needs /proc") }

// idle returns no benchmarks: they need /proc.
func (w *environment) idle() []bench { return nil }
