//go:build failpoint && unix

package failpoint

import (
	"os"
	"sync"
	"time"
)

var clockFile = sync.OnceValue(func() string { return os.Getenv(ClockVariable) })

// Now is the time by a clock that is wrong by the duration in a file (such as
// "-1h"), which may change at any moment.
func Now() time.Time {
	if clockFile() == "" {
		return time.Now()
	}
	data, err := os.ReadFile(clockFile())
	if err != nil {
		return time.Now()
	}
	offset, _ := time.ParseDuration(string(data)) // a file that is just being written is a right clock
	return time.Now().Round(0).Add(offset)        // without the monotonic part, which would hide the jump
}
