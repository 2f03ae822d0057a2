package program

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is how much more than usual (the collector's 4 MB) is allocated
// before the first collection, in percent. Most commands use less than 16 MB, and
// collecting took a tenth of the CPU time of a start of 100 replicas.
const firstCollection = 400

// DelayGC delays the first garbage collection. Later collections are as usual.
func DelayGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	sentinel := new([16]byte) // not a tiny allocation, which may never be collected
	runtime.SetFinalizer(sentinel, func(*[16]byte) { debug.SetGCPercent(usual) })
}
