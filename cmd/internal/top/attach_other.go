//go:build !unix

package top

import "torchx/cmd/internal/program"

// attach says how to attach: a process cannot become another one here.
func attach(f *program.Factory, handle string) error {
	f.Say("run torchx attach %s", handle)
	return nil
}
