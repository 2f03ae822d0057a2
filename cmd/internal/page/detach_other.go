//go:build !unix

package page

import "syscall"

func detached() *syscall.SysProcAttr { return nil }
