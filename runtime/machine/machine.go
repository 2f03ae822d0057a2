// Package machine detects the processors, memory and GPUs of this machine.
package machine

import (
	"fmt"
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

// Plus adds two sizes.
func (s Size) Plus(o Size) Size {
	return Size{CPU: s.CPU + o.CPU, MemMB: s.MemMB + o.MemMB, GPU: s.GPU + o.GPU}
}
