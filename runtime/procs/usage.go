package procs

import "time"

// Usage is what a process, or several, use of the machine.
type Usage struct {
	CPU time.Duration // user and system so far, of children that were waited for, too
	RSS int64         // resident memory now in bytes; what processes share counts for each
}

// sample is a process with its usage.
type sample struct {
	pid, parent, session int
	usage                Usage
}

// Trees adds up, for each root, the usage of that process, of all below it and of
// the rest of its session. Roots that do not live are left out. It looks at each
// process of the machine once.
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

// rootOf finds the root that a process belongs to, going up to it.
func rootOf(p *sample, byPID map[int]*sample, roots map[int]Usage) (int, bool) {
	session := p.session
	for range len(byPID) { // a list that was read while processes came and went may have a circle
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
