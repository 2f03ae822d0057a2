// Package procs looks at the processes of this machine: who descends from whom,
// since when, and what marks them as a part of an app. Only Linux can tell; on
// other systems nothing is found.
package procs

// Process is one process as the system sees it now.
type Process struct {
	PID, Parent, Session int
	Start                uint64 // start time in the system's unit: with PID it names a process
	Zombie               bool
}

// Descendants returns every live process below root, root itself left out.
func Descendants(root int) []Process {
	all := List()
	children := map[int][]Process{}
	for _, p := range all {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var found []Process
	queue := []int{root}
	for len(queue) > 0 {
		next := children[queue[0]]
		queue = queue[1:]
		for _, p := range next {
			queue = append(queue, p.PID)
			if !p.Zombie {
				found = append(found, p)
			}
		}
	}
	return found
}
