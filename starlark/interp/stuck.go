//go:build !race

package interp

import "fmt"

// stuckAt returns the position of the step that does not end. It looks at the
// stack of another goroutine without a lock. That is sound enough for a message
// before the process ends: the engine is inside a single step and changes its
// stack only when a function begins or ends.
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
