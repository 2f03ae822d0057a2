//go:build !unix

package docker

import "torchx/backends/driver"

func runAgent(string, driver.Program) int { return 1 }
