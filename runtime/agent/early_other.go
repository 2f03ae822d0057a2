//go:build !linux

package agent

import (
	"errors"
	"os"
)

// Early is an agent that starts before its bundle exists; only on Linux.
type Early struct{}

// StartEarly fails.
func StartEarly(string, Bundle) (*Early, error) { return nil, errors.ErrUnsupported }

func (*Early) take(*os.File) (ready *os.File, process *os.Process, err error) {
	return nil, nil, errors.ErrUnsupported
}

// End does nothing.
func (*Early) End() {}

// AwaitBundle returns true: agents are started with their bundles.
func AwaitBundle(string) bool { return true }
