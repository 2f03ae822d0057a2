//go:build !unix

package main

// dockerBench does nothing: the benchmarks need a local Docker Engine.
type dockerBench struct{ *environment }

func (d *dockerBench) containers(sizes) []bench { return nil }
func (d *dockerBench) stop() error              { return nil }
