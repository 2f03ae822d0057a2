//go:build !unix

package main

// dockers needs a Docker Engine of this machine.
type dockers struct{ *world }

func (d *dockers) containers(sizes) []bench { return nil }
func (d *dockers) stop() error              { return nil }
