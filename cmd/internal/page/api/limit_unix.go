//go:build unix

package api

import "syscall"

// maxClients returns how many streams leave enough files for everything else.
func maxClients() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewClients
	}
	return int(min(max(limit.Cur*3/4, fewClients), 1<<20))
}

const fewClients = 100
