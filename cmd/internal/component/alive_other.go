//go:build !unix

package component

import "os"

// processAlive reports whether there is a process.
func processAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
