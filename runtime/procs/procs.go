// Package procs inspects the processes of this machine: ancestry, start times, and marks that
// identify them as part of an app. It works only on Linux; on other systems it finds nothing.
package procs

// Process is the current state of a process.
type Process struct {
	PID, Parent, Session int
	Start                uint64 // start time in the system's unit: PID and Start identify a process
	Zombie               bool
}

// Ancestors returns a process and its ancestors.
func Ancestors(pid int) []Process {
	var found []Process
	for p, ok := Get(pid); ok && len(found) < maxDepth; p, ok = Get(p.Parent) {
		found = append(found, p)
	}
	return found
}

// maxDepth bounds a chain of parents, which may change during the read.
const maxDepth = 1000

// Descendants returns every live process below root, without root.
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
