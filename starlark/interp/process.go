package interp

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"torchx/runtime/units"
)

// Limits of the heap of a process that evaluates files, for all it does besides: what is made
// of a result, and what is read from files. From softMemory on the collector works harder, so
// that garbage is not taken for need.
const (
	softMemory = 3 << 29 // bytes
	hardMemory = 4 << 29 // bytes
	// watchMemory is from where on the heap is looked at all the time.
	watchMemory = hardMemory / 8
)

// GuardProcess bounds the memory of this process for the rest of its life. end must print the
// error and end the process. It costs nothing while the heap is small.
//
// It is not an rlimit: the Go runtime answers a refused allocation with the stacks of all
// goroutines, and started processes would inherit it.
func GuardProcess(end func(error)) {
	if debug.SetMemoryLimit(-1) > softMemory { // GOMEMLIMIT may say less
		debug.SetMemoryLimit(softMemory)
	}
	g := &processGuard{end: end}
	runtime.SetFinalizer(new([16]byte), g.collected) // not a tiny allocation, which may never be collected
}

type processGuard struct {
	end      func(error)
	watching atomic.Bool
}

// collected runs after each garbage collection. A heap cannot grow much without one.
func (g *processGuard) collected(sentinel *[16]byte) {
	if heapBytes(heapSample()) > watchMemory && g.watching.CompareAndSwap(false, true) {
		go g.watch()
	}
	runtime.SetFinalizer(sentinel, g.collected)
}

// watch looks at the heap until it is small again.
func (g *processGuard) watch() {
	defer g.watching.Store(false)
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	sample := heapSample()
	for range tick.C {
		switch n := heapBytes(sample); {
		case n < watchMemory/2:
			return
		case n > hardMemory:
			g.end(&LimitError{Limit: "memory", Msg: "this command needs more than " + units.RoundBytes(hardMemory) +
				" of memory and was stopped: an app, a plan or a file that it reads is too large"})
			return
		}
	}
}
