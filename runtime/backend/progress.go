package backend

// Step reports slow work before an app starts: pulling an image, building or pushing a
// workspace. It is for people, and may be lost.
type Step struct {
	Name   string // one line such as "pull alpine:3.20"; steps of one name are one
	Text   string // the current activity, one line; "" if unchanged
	Done   int64  // bytes
	Total  int64  // bytes; 0: not known (yet)
	Output string // a line that the work printed, without its newline; it stays on the screen
	Ended  bool   // the step has ended
	Failed bool   // with Ended: the step failed; an error says why

	// Warning is a line for the user from Submit, as Plan.Warnings are from planning.
	// With it all other fields are ignored.
	Warning string
}

// Progress receives steps. It returns soon and may be called from several goroutines;
// nil drops them.
type Progress func(Step)

// Tell calls p unless it is nil.
func (p Progress) Tell(s Step) {
	if p != nil {
		p(s)
	}
}
