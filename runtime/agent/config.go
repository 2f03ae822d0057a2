package agent

import (
	"context"

	"torchx/runtime/machine"
)

// StoreOpener opens the history of a home.
type StoreOpener func(ctx context.Context, home string) (Store, error)

// Config is what the agent needs from its backend and from the program.
type Config struct {
	NewLauncher func(b Bundle, m *Manifest) (Launcher, error)
	OpenStore   StoreOpener
	// Total is what a queue may hand out, GPUs aside; nil: what the machine has.
	Total func() (machine.Size, error)
}
