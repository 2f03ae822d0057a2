package program

import (
	"context"
	"io"
	"strings"

	"torchx/cmd/internal/ui"
)

// Call runs a command line in this process, without a terminal and with secrets hidden. The
// command shares what f has opened, so that a call costs only its own work; Call is safe for
// concurrent use once f.Runner was called. A command that evaluates a component or follows an app
// must not be called: it may end the process, or replace its signal handler.
func (f *Factory) Call(ctx context.Context, out, messages io.Writer, args ...string) error {
	c := *f
	c.Console = f.Clone()
	c.Streams = ui.Streams{In: strings.NewReader(""), Out: out, Err: messages}
	c.Plain()
	c.Display = ui.NewDisplay(c.Console, true)
	return c.main(ctx, args)
}
