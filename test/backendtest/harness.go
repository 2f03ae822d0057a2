// Package backendtest is the conformance suite of backends.Backend: one set of
// cases that every backend runs in its own tests, with a Harness that says how
// to reach it and what to start there.
package backendtest

import (
	"testing"
	"time"

	"torchx/runtime/backend"
)

// Harness is one place where apps can run. Every case gets a new one, and ends
// all apps that it started.
type Harness struct {
	Backend  backend.Backend
	Programs Programs
	Image    string // of every role; "" where the backend needs none
	// Cfg are -cfg values that plans need, such as a namespace; the others have their defaults.
	Cfg map[string]string
	Cwd string // where the command runs; "": a new folder
	// Home is the folder the backend writes to, where it has one: a plan must
	// leave it as it is.
	Home string
	// Reopen returns another client of the same place, as another process would
	// have; nil where there can be none. The harness closes it in the end.
	Reopen  func(t *testing.T) backend.Backend
	Caps    Caps
	Timeout time.Duration // for everything that must happen; 0: a minute
	Forced  time.Duration // what a forced end may take, less than the grace period; 0: eight seconds
}

// Caps says what a backend can do; cases that need more do nothing.
type Caps struct {
	Streams     bool // logs tell stdout from stderr
	Times       bool // blocks have times, and Since and Until select by them
	AnyID       bool // an app id may have any characters but '/' and control ones
	Signals     bool // a replica's Signal is known
	FailFast    bool // a replica that has failed stops the others
	Attempts    bool // RetryReplica is honored, and each attempt has a log
	StartErrors bool // Submit itself finds out that an entry point does not exist
	Deletes     bool // Delete removes all traces at once
	WholeLogs   bool // the log of a replica that was killed is whole; else a notice may say that it is cut
}

// AllCaps is what a backend on this machine can do.
func AllCaps() Caps {
	return Caps{Streams: true, Times: true, AnyID: true, Signals: true, FailFast: true, Attempts: true, StartErrors: true, Deletes: true, WholeLogs: true}
}

// Run runs the suite. newHarness is called once for each case, from several
// goroutines at once.
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
						t.Log("this backend cannot do what the case is about")
						return
					}
					c.run(s)
				})
			}
		})
	}
}
