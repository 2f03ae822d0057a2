//go:build !unix

package docker

import "torchx/runtime/agent"

func runAgent(string, agent.StoreOpener) int { return 1 }
