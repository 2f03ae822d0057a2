package procs

import (
	"slices"
	"time"
)

// Root is the first process of a tree.
type Root struct {
	PID   int
	Start uint64 // its start time; 0: not known
	// Output names pipes that only processes of the tree have, as /proc/PID/fd does.
	Output []string
}

// Tree is what the processes of a tree use. CPU, Read and Written include processes that have
// ended.
type Tree struct {
	PIDs    []int // none: the tree cannot be read, or has ended
	CPU     time.Duration
	Memory  int64 // resident bytes
	Once    bool  // Memory counts each page that processes share once
	Threads int
	IO      *IO // nil: this process may not read it
}

// IO is how many bytes the read and write calls of processes transferred, to and from anything.
type IO struct{ Read, Written int64 }

const (
	// rescanAfter bounds how long the tracker trusts that a number is the process of another
	// program.
	rescanAfter = time.Minute
	// sharingPart bounds the time that is spent to find out how many pages processes share.
	sharingPart = 50
	// ioAfter is how often the counters of a process are read that has used no CPU time: its
	// clock is coarse.
	ioAfter = 10 * time.Second
)

// Tracker measures trees of processes repeatedly. A process that was once seen in a tree remains
// in it, even if its parent ends. It reads /proc/PID/stat of the known processes, and looks for
// others only when the system has started any. It is not safe for concurrent use.
type Tracker struct {
	self    int // the parent of orphans
	known   map[int]*tracked
	foreign map[int]bool // processes of no tree
	trees   map[int]*tree
	newest  int // the last process that the system started
	scanned time.Time
	buffer  []byte
}

// tracked is a process of a tree.
type tracked struct {
	sample

	root      int
	io        IO
	ioAt      time.Time
	ioCPU     time.Duration // when io was read
	ioUnknown bool
}

// tree is the state of a tree between two measurements.
type tree struct {
	Root

	ended    IO            // of processes that have ended
	cpu      time.Duration // at the last measurement
	dropped  time.Duration // CPU time of processes that the tree has not waited for
	pss      int64         // at the last reading; 0: none
	rss      int64         // then
	members  int           // a number that changes with the processes, then
	nextRead time.Time     // of the shared pages
	denied   bool          // this process may not read them
}

// NewTracker returns a tracker of trees below the process self, which is the parent of orphans.
func NewTracker(self int) *Tracker {
	return &Tracker{self: self, known: map[int]*tracked{}, foreign: map[int]bool{}, trees: map[int]*tree{}, buffer: make([]byte, 4096)}
}

// Measure returns what the trees with these roots use, by the PID of the root. It forgets all
// others.
func (t *Tracker) Measure(roots []Root) map[int]Tree {
	now := time.Now()
	t.setRoots(roots)
	t.refresh()
	t.discover(now)
	members := map[int][]*tracked{}
	for _, p := range t.known {
		members[p.root] = append(members[p.root], p)
	}
	found := make(map[int]Tree, len(roots))
	for root, state := range t.trees {
		if all := members[root]; len(all) > 0 {
			found[root] = t.sum(state, all, now)
		}
	}
	return found
}

// setRoots forgets trees that are not wanted any more.
func (t *Tracker) setRoots(roots []Root) {
	wanted, fresh := make(map[int]bool, len(roots)), map[int]bool{}
	for _, r := range roots {
		wanted[r.PID] = true
		if old := t.trees[r.PID]; old == nil || old.Start != r.Start {
			t.trees[r.PID], fresh[r.PID] = &tree{Root: r}, true
			t.newest = 0 // it may have been taken for another program's
			clear(t.foreign)
		}
	}
	for pid := range t.trees {
		if !wanted[pid] {
			delete(t.trees, pid)
		}
	}
	for pid, p := range t.known {
		if !wanted[p.root] || fresh[p.root] {
			delete(t.known, pid)
		}
	}
}

// refresh reads the known processes again and removes those that have ended.
func (t *Tracker) refresh() {
	for pid, p := range t.known {
		s, ok := t.read(pid)
		if ok && s.start == p.start && !s.zombie {
			p.sample = s
			continue
		}
		if state := t.trees[p.root]; state != nil {
			state.ended = state.ended.plus(p.io)
		}
		delete(t.known, pid)
	}
}

// discover finds new processes of the trees.
func (t *Tracker) discover(now time.Time) {
	newest := newestPID(t.buffer)
	if newest == t.newest && newest > 0 && now.Sub(t.scanned) < rescanAfter {
		return
	}
	if newest < t.newest || now.Sub(t.scanned) >= rescanAfter { // numbers are being reused
		clear(t.foreign)
	}
	t.newest, t.scanned = newest, now
	fresh := t.unknown()
	for pid, p := range fresh {
		if p.root = t.rootOf(p, fresh); p.root == 0 {
			t.foreign[pid] = true
		} else if !p.zombie {
			t.known[pid] = p
		}
	}
}

// unknown reads the processes that are neither in a tree nor foreign.
func (t *Tracker) unknown() map[int]*tracked {
	fresh := map[int]*tracked{}
	for _, pid := range listPIDs() {
		if t.known[pid] != nil || t.foreign[pid] || pid == t.self {
			continue
		}
		if s, ok := t.read(pid); ok {
			fresh[pid] = &tracked{sample: s}
		}
	}
	return fresh
}

// rootOf returns the root of the tree that a new process belongs to, 0 for none: that of an
// ancestor, that of its session, or for an orphan the one whose pipes it has open.
func (t *Tracker) rootOf(p *tracked, fresh map[int]*tracked) int {
	orphan, up := false, p
	for range len(fresh) + 1 { // numbers that are reused during the scan may form a cycle
		if r := t.trees[up.pid]; r != nil && (r.Start == 0 || r.Start == up.start) {
			return up.pid
		}
		orphan = orphan || up.parent == t.self
		if parent := t.known[up.parent]; parent != nil {
			return parent.root
		}
		next := fresh[up.parent]
		if next == nil || next == up || next.start > up.start { // a number that was reused in between
			break
		}
		up = next
	}
	if r := t.trees[p.session]; r != nil && r.Start <= p.start {
		leader := fresh[p.session]
		if leader == nil || r.Start == 0 || r.Start == leader.start { // otherwise its number was reused
			return p.session
		}
	}
	if !orphan {
		return 0
	}
	for root, r := range t.trees {
		if len(r.Output) > 0 && HasOpen(p.pid, func(file string) bool { return slices.Contains(r.Output, file) }) {
			return root
		}
	}
	return 0
}

// sum adds up the processes of a tree.
func (t *Tracker) sum(state *tree, all []*tracked, now time.Time) Tree {
	var found Tree
	io, cpu, rss, members := state.ended, time.Duration(0), int64(0), 0
	known := true
	for _, p := range all {
		found.PIDs = append(found.PIDs, p.pid)
		found.Threads += p.threads
		cpu += p.usage.CPU
		rss += p.usage.RSS
		members += p.pid * p.pid
		known = t.readIO(p, now) && known
		io = io.plus(p.io)
	}
	if known {
		found.IO = &io
	}
	// The time of a process moves to the parent that waits for it. That of an orphan is lost for
	// the tree.
	if cpu < state.cpu {
		state.dropped += state.cpu - cpu
	}
	state.cpu = cpu
	found.CPU = cpu + state.dropped
	found.Memory, found.Once = t.memory(state, all, rss, members, now)
	return found
}

// memory returns the resident memory of a tree. The pages that a single process maps are not
// counted twice. For several, the kernel divides each page by the processes that map it (PSS),
// which takes it some milliseconds for each GiB: it is asked when something has changed, and
// seldom enough. Without an answer the memory is at least that of the last one, or of the largest
// process.
func (t *Tracker) memory(
	state *tree, all []*tracked, rss int64, members int, now time.Time,
) (bytes int64, once bool) {
	if len(all) == 1 {
		state.pss = 0
		return rss, true
	}
	changed := members != state.members || rss-state.rss > rss/128 || state.rss-rss > rss/128
	if !now.Before(state.nextRead) && (changed || state.pss == 0) {
		began := time.Now()
		pss, whole, denied := t.readSharing(all)
		state.denied, state.nextRead = denied, now.Add(sharingPart*time.Since(began))
		switch {
		case denied:
			state.pss, state.nextRead = 0, now.Add(rescanAfter)
		case whole:
			state.pss, state.rss, state.members = pss, rss, members
		}
	}
	if state.denied {
		return rss, false
	}
	largest := int64(0)
	for _, p := range all {
		largest = max(largest, p.usage.RSS)
	}
	return max(min(state.pss, rss), largest), true
}

// readSharing adds up the PSS of processes. It is not whole if one has ended meanwhile: then
// pages that it shared were divided by different numbers. denied means that this process may not
// know.
func (t *Tracker) readSharing(all []*tracked) (pss int64, whole, denied bool) {
	for _, p := range all {
		n, mayRead := readPSS(p.pid, t.buffer)
		if !mayRead {
			return 0, false, true
		}
		pss += n
	}
	for _, p := range all {
		if s, ok := t.read(p.pid); !ok || s.zombie || s.usage.RSS == 0 {
			return 0, false, false
		}
	}
	return pss, pss > 0, false
}

// readIO reads the counters of a process that may have changed. It reports whether they are known.
func (t *Tracker) readIO(p *tracked, now time.Time) bool {
	if p.ioUnknown {
		return false
	}
	if !p.ioAt.IsZero() && p.ioCPU == p.usage.CPU && now.Sub(p.ioAt) < ioAfter {
		return true
	}
	io, ok := readIO(p.pid, t.buffer)
	if !ok {
		p.ioUnknown = exists(p.pid)
		return !p.ioUnknown
	}
	p.io, p.ioAt, p.ioCPU = io, now, p.usage.CPU
	return true
}

// IOCounter adds up the counters of the processes of a group, including those that have ended.
type IOCounter struct {
	live  map[int]IO
	ended IO
}

// Count reads the counters of the processes that a group has now. ok is false if this process may
// not read one of them, or if there are none.
func (c *IOCounter) Count(pids []int) (total IO, ok bool) {
	buffer := make([]byte, 512)
	live := make(map[int]IO, len(pids))
	total = c.ended
	for _, pid := range pids {
		io, readable := readIO(pid, buffer)
		before := c.live[pid]
		switch {
		case !readable && exists(pid):
			return IO{}, false
		case !readable:
			continue
		case io.Read < before.Read || io.Written < before.Written: // its number was reused
			total = total.plus(before)
			c.ended = c.ended.plus(before)
		}
		live[pid], total = io, total.plus(io)
	}
	for pid, io := range c.live {
		if _, alive := live[pid]; !alive {
			total, c.ended = total.plus(io), c.ended.plus(io)
		}
	}
	c.live = live
	return total, len(pids) > 0
}

func (a IO) plus(b IO) IO { return IO{a.Read + b.Read, a.Written + b.Written} }
