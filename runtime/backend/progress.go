package backend

// Step reports slow work before an app starts: pulling an image, building or pushing a
// workspace. It is for display only, and may be lost.
type Step struct {
	Name   string // one line such as "pull alpine:3.20"; identifies the step
	Text   string // the current activity, one line; "" if unchanged
	Done   int64  // bytes
	Total  int64  // bytes; 0: unknown
	Output string // a line of output without its newline; it stays on the screen
	Ended  bool   // the step has ended
	Failed bool   // with Ended: the step failed; an error tells why

	// Warning is a line for the user from Submit, like Plan.Warnings from planning. If it
	// is set, all other fields are ignored.
	Warning string
}

// Progress receives steps. It must return quickly and is called from several goroutines; nil
// drops them.
type Progress func(Step)

// Tell calls p unless it is nil.
func (p Progress) Tell(s Step) {
	if p != nil {
		p(s)
	}
}
