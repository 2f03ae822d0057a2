//go:build !failpoint || !unix

package failpoint

import "time"

// Hit does nothing in this build.
func Hit(string) {}

// Now is time.Now in this build.
func Now() time.Time { return time.Now() }
