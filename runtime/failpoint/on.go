//go:build failpoint && unix

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopDelay is how long a thread waits until its process is stopped: the signal reaches another
// thread first.
const stopDelay = time.Second

// target is what the environment selects.
type target struct {
	name   string
	signal syscall.Signal

	mu        sync.Mutex
	remaining int // remaining hits
}

var selected = sync.OnceValue(func() *target { return parse(os.Getenv(Variable)) })

func parse(text string) *target {
	t := &target{signal: syscall.SIGKILL, remaining: 1}
	text, stop := strings.CutSuffix(text, "!stop")
	if stop {
		t.signal = syscall.SIGSTOP
	}
	name, count, counted := strings.Cut(text, ":")
	if n, err := strconv.Atoi(count); counted && err == nil {
		t.remaining = n
	}
	t.name = name
	return t
}

// Hit ends this process if the environment selects this point and hit.
func Hit(name string) {
	t := selected()
	if t.name != name {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.remaining--; t.remaining == 0 {
		_ = syscall.Kill(os.Getpid(), t.signal)
		if t.signal == syscall.SIGKILL {
			select {} // the signal is on its way
		}
		time.Sleep(stopDelay)
	}
}

var clockFile = sync.OnceValue(func() string { return os.Getenv(ClockVariable) })

// Now returns the time of a clock that is wrong by the duration in a file (such as "-1h"), which
// may change at any time.
func Now() time.Time {
	if clockFile() == "" {
		return time.Now()
	}
	data, err := os.ReadFile(clockFile())
	if err != nil {
		return time.Now()
	}
	offset, _ := time.ParseDuration(string(data)) // while the file is being written, the clock is right
	return time.Now().Round(0).Add(offset)        // without the monotonic part, which would hide the jump
}
