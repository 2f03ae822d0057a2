package agent

import (
	"context"

	"torchx/runtime/machine"
)

// Config is what the agent needs from its backend and from the program.
type Config struct {
	NewLauncher func(b Bundle, m *Manifest) (Launcher, error)
	OpenStore   func(ctx context.Context, home string) (Store, error)
	// Total is what a queue may hand out, GPUs aside; nil: what the machine has.
	Total func() (machine.Size, error)
}
