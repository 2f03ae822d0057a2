// Package machine detects the processors, memory and GPUs of this machine.
package machine

import (
	"fmt"
	"math"
	"runtime"
)

// Size is an amount of resources, available or requested.
type Size struct {
	CPU   float64 `json:"cpu"`
	MemMB int     `json:"mem_mb"` // MiB
	GPU   int     `json:"gpu"`
}

// Total returns the processors that this process may use and the memory of the machine. GPU is 0,
// since detecting GPUs starts a program (see GPUs).
func Total() (Size, error) {
	bytes, err := memory()
	if err != nil {
		return Size{}, fmt.Errorf("get memory size of this machine: %w", err)
	}
	return Size{CPU: float64(runtime.NumCPU()), MemMB: int(bytes >> 20)}, nil
}

// Fits returns how often a size fits. A size that asks for nothing of a kind fits any number of
// times in that.
func (s Size) Fits(one Size) int {
	n := math.MaxInt
	for _, kind := range []struct{ all, one float64 }{
		{s.CPU, one.CPU}, {float64(s.MemMB), float64(one.MemMB)}, {float64(s.GPU), float64(one.GPU)},
	} {
		if kind.one > 0 {
			n = min(n, int(min(kind.all/kind.one+1e-9, math.MaxInt32))) // sums of decimal fractions are not exact
		}
	}
	return n
}

// Plus adds two sizes.
func (s Size) Plus(o Size) Size {
	return Size{CPU: s.CPU + o.CPU, MemMB: s.MemMB + o.MemMB, GPU: s.GPU + o.GPU}
}
