package procs

import "time"

// Usage is the resource usage of one or several processes.
type Usage struct {
	CPU time.Duration // user and system time so far, including children that were waited for
	RSS int64         // current resident memory in bytes; shared memory counts for each process
}

// sample is a process with its usage.
type sample struct {
	pid, parent, session int
	usage                Usage
	start                uint64 // in the system's unit
	threads              int
	zombie               bool
}

// Trees adds up, for each root, the usage of that process, of all its descendants and of other
// processes of its session. It omits roots that do not exist. It reads each process of the machine
// once.
func Trees(roots []int) map[int]Usage {
	t := NewTracker(0)
	for _, pid := range roots {
		t.trees[pid] = &tree{Root: Root{PID: pid}}
	}
	return t.usage(t.unknown())
}

// usage adds up all processes by the root of their tree.
func (t *Tracker) usage(all map[int]*tracked) map[int]Usage {
	found := make(map[int]Usage, len(t.trees))
	for _, p := range all {
		if root := t.rootOf(p, all); all[root] != nil {
			u := found[root]
			found[root] = Usage{u.CPU + p.usage.CPU, u.RSS + p.usage.RSS}
		}
	}
	return found
}
