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

// Ancestors returns a process and all that it descends from.
func Ancestors(pid int) []Process {
	var found []Process
	for p, ok := Get(pid); ok && len(found) < maxDepth; p, ok = Get(p.Parent) {
		found = append(found, p)
	}
	return found
}

// maxDepth bounds a chain of parents, which may change while it is read.
const maxDepth = 1000

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
