package sample

import "torchx/runtime/procs"

// OfTree returns the reading of a tree of processes.
func OfTree(tree *procs.Tree) Reading {
	r := Reading{CPU: &tree.CPU, Memory: &tree.Memory, Source: RSS, Threads: &tree.Threads, PIDs: tree.PIDs}
	if tree.Once {
		r.Source = PSS
	}
	if tree.IO != nil {
		r.Read, r.Written = &tree.IO.Read, &tree.IO.Written
	}
	return r
}
