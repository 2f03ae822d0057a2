package follow

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// settleAfter decides which apps of --after a plan still waits for. If one has not ended as
// required, nothing is submitted. If the backend cannot wait for one, this command does, unless it
// is to return.
func settleAfter(
	ctx context.Context, r *runner.Runner, p *runner.Planned, detach bool,
) error {
	here, err := r.SettleAfter(ctx, p)
	var unmet *backend.UnmetError
	switch {
	case errors.As(err, &unmet):
		return fmt.Errorf("%w (--after %s:any starts the app however that one ended)", err, unmet.After.App.Handle())
	case err != nil || len(here) == 0:
		return err
	case detach:
		return backend.Errorf(backend.ErrUnsupported,
			"-d cannot be used: %s cannot wait for %s, so that this command must (run it without -d, in tmux or with nohup)",
			p.Backend, here[0].App.Handle())
	}
	return nil
}
