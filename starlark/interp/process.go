package interp

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"torchx/runtime/humanize"
)

// MaxProcessHeap is the limit of GuardProcess for a command, in bytes. An evaluation may take
// DefaultMaxHeap of it; planning and printing 100,000 replicas takes half.
const MaxProcessHeap = 2 << 30

// GuardProcess bounds the heap of this process for the rest of its life, also outside of
// evaluations: while it converts their results and reads files. end must print the error and exit
// the process. The guard costs nothing while the heap is small. From three quarters of the limit
// on, the garbage collector runs more often, so that garbage does not count as memory in use.
//
// An rlimit would not do: the Go runtime answers a refused allocation with the stacks of all
// goroutines, and child processes would inherit it.
func GuardProcess(limit uint64, end func(error)) {
	soft := int64(limit / 4 * 3)
	if debug.SetMemoryLimit(-1) > soft { // keep a lower GOMEMLIMIT
		debug.SetMemoryLimit(soft)
	}
	g := &processGuard{limit: limit, end: end}
	runtime.SetFinalizer(new([16]byte), g.collected) // not a tiny allocation, which may never be collected
}

type processGuard struct {
	limit    uint64
	end      func(error)
	watching atomic.Bool
}

// collected runs after each garbage collection; a heap cannot grow much without a collection.
func (g *processGuard) collected(sentinel *[16]byte) {
	if heapBytes(heapSample()) > g.limit/8 && g.watching.CompareAndSwap(false, true) {
		go g.watch()
	}
	runtime.SetFinalizer(sentinel, g.collected)
}

// watch checks the heap until it is small again.
func (g *processGuard) watch() {
	defer g.watching.Store(false)
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	sample := heapSample()
	for range tick.C {
		switch n := heapBytes(sample); {
		case n < g.limit/16:
			return
		case n > g.limit:
			g.end(&LimitError{Limit: "memory", Msg: "this command needs more than " + humanize.RoundBytes(g.limit) +
				" of memory and was stopped: an app, a plan or a file that it reads is too large"})
			return
		}
	}
}
