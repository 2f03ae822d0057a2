//go:build !linux

package main

// idle returns no benchmarks: they need /proc.
func (w *environment) idle() []bench { return nil }
