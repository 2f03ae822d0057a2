//go:build !unix

package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"torchx/runtime/spec"
)

// Lock cannot be held on this system.
type Lock struct{ File *os.File }

// Close does nothing.
func (l *Lock) Close() error { return nil }

var errNoLocks = errors.New("file locks that outlive a process are not supported on this system")

func acquire(string) (*Lock, error) { return nil, errNoLocks }

func acquireWithin(string, time.Duration) (*Lock, error) { return nil, errNoLocks }

// Held reports that nobody holds the bundle's lock.
func (b Bundle) Held() bool { return false }

func held(string) bool { return false }

func (b Bundle) tellDeleted() {}

func endRemains(string, []startRecord) {}

func isNoSpace(error) bool { return false }

func isNotEmpty(error) bool { return false }

// Inspect returns the status as it is on disk.
func (b Bundle) Inspect() (*spec.Status, error) { return b.Status() }

// Tend returns the status as it is on disk.
func (b Bundle) Tend(string) (*spec.Status, error) { return b.Status() }

// StartSelfTest is not possible on this system.
func StartSelfTest(context.Context, string) (*SelfTest, error) { return nil, errNoLocks }

func selfTest() SelfTest { return SelfTest{} }
