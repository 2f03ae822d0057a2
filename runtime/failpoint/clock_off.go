//go:build !failpoint || !unix

package failpoint

import "time"

// Now is time.Now in this build.
func Now() time.Time { return time.Now() }
