// Package backendtest is the conformance suite of backend.Backend: every backend runs the
// same cases in its own tests, with a Harness that provides a client and programs.
package backendtest

import (
	"testing"
	"time"

	"torchx/runtime/backend"
)

// Harness is a backend under test. Every case gets a new one and ends all apps that it
// started.
type Harness struct {
	Backend  backend.Backend
	Programs Programs
	Image    string // of every role; "" if the backend needs none
	// Cfg are -cfg values that plans need, such as a namespace. Others have their defaults.
	Cfg map[string]string
	Cwd string // working folder of the command; "": a new folder
	// Home is the folder to which the backend writes, if it has one. A plan must not
	// change it.
	Home string
	// Shared says that List also has apps of other tests, which come and go at any time.
	Shared bool
	// Reopen returns another client with the same apps, as another process would have; nil
	// if that is not possible. The harness closes it at the end.
	Reopen       func(t *testing.T) backend.Backend
	Caps         Caps
	Timeout      time.Duration // of a case; 0: a minute
	ForceTimeout time.Duration // of a forced end, less than the grace period; 0: eight seconds
}

// Caps are the capabilities of a backend. Cases that need others do nothing.
type Caps struct {
	Streams      bool // logs separate stdout and stderr
	Times        bool // blocks have times, and Since and Until select by them
	AnyID        bool // an app ID may have any characters but '/' and control characters
	Signals      bool // a replica's Signal is known
	FailFast     bool // a failed replica stops the others
	Attempts     bool // RetryReplica is honored, and each attempt has a log
	StartErrors  bool // Submit fails if an entry point does not exist
	Deletes      bool // Delete removes everything before it returns
	CompleteLogs bool // the log of a killed replica is complete; otherwise it may end with a gap
}

// AllCaps returns the capabilities of a backend on this machine.
func AllCaps() Caps {
	return Caps{Streams: true, Times: true, AnyID: true, Signals: true, FailFast: true, Attempts: true, StartErrors: true, Deletes: true, CompleteLogs: true}
}

// Run runs the suite. It calls newHarness once per case, concurrently.
func Run(t *testing.T, newHarness func(t *testing.T) Harness) {
	t.Helper()
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					s := newSuite(t, newHarness(t))
					if c.needs != nil && !c.needs(s.Caps) {
						t.Log("this backend does not have the capability that the case tests")
						return
					}
					c.run(s)
				})
			}
		})
	}
}
