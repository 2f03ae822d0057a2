package backend

// Step is news of slow work that comes before an app starts: an image that is
// pulled, a workspace that is built or pushed. It is for people, and may be lost.
type Step struct {
	Name   string // what is worked on, one line such as "pull alpine:3.20"; steps of one name are one
	Text   string // what is done now, one line; "" if nothing new
	Done   int64  // bytes
	Total  int64  // bytes; 0: not known (yet)
	Output string // a line that the work printed, without its newline; it stays on the screen
	Ended  bool   // the step is over
	Failed bool   // with Ended: it came to nothing; an error says why

	// Warning is a line for the user that Submit has found, as Plan.Warnings are what
	// planning has found. It is no step: all else in the same news counts for nothing.
	Warning string
}

// Progress is told what happens. It returns soon, may be called from several
// goroutines, and may be nil where nobody wants to know.
type Progress func(Step)

// Tell calls p, if there is one.
func (p Progress) Tell(s Step) {
	if p != nil {
		p(s)
	}
}
