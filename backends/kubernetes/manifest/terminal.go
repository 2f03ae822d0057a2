package manifest

// AddTerminal runs the main container on a terminal that clients can attach to.
func (r *Request) AddTerminal() {
	for _, t := range r.PodSets() {
		if len(t.Spec.Containers) > 0 {
			c := &t.Spec.Containers[0]
			c.Stdin, c.TTY = true, true
		}
	}
}
