//go:build unix && !linux

package agent

// This system has neither: the agent does without.
func trySubreaper() error { return nil }

func tryPidfd() error { return nil }
