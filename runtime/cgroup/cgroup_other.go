//go:build !linux

package cgroup

import "errors"

var errNone = errors.New("control groups are available only on Linux")

// Self is not supported on this system.
func Self() (string, error) { return "", errNone }

func writable(string) error { return errNone }

// Kill does nothing on this system.
func Kill(string) {}

// End does nothing on this system.
func End(string) error { return nil }
