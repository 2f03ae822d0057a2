//go:build !race

package interp

import "fmt"

// stuckAt returns the position of an endless step. It reads the stack of another goroutine without
// a lock, which is safe enough just before the process exits: a single step does not change the
// stack.
func stuckAt(r *run) (at string) {
	defer func() {
		if recover() != nil {
			at = r.subject
		}
	}()
	if frames := framesOf(r.thread.CallStack()); len(frames) > 0 {
		return fmt.Sprint(frames[0].Pos)
	}
	return r.subject
}
