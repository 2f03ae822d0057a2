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
func Trees(roots []int) map[int]Usage { return trees(samples(), roots) }

func trees(all []sample, roots []int) map[int]Usage {
	byPID := make(map[int]*sample, len(all))
	for i := range all {
		byPID[all[i].pid] = &all[i]
	}
	found := make(map[int]Usage, len(roots))
	for _, r := range roots {
		if byPID[r] != nil {
			found[r] = Usage{}
		}
	}
	for i := range all {
		if root, ok := rootOf(&all[i], byPID, found); ok {
			u := found[root]
			found[root] = Usage{u.CPU + all[i].usage.CPU, u.RSS + all[i].usage.RSS}
		}
	}
	return found
}

// rootOf returns the root that a process belongs to.
func rootOf(p *sample, byPID map[int]*sample, roots map[int]Usage) (int, bool) {
	session := p.session
	for range len(byPID) { // a list that was read while processes changed may have a cycle
		if _, ok := roots[p.pid]; ok {
			return p.pid, true
		}
		up := byPID[p.parent]
		if up == nil || up == p {
			break
		}
		p = up
	}
	_, ok := roots[session]
	return session, ok
}
