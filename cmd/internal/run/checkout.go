package run

import (
	"context"
	"fmt"

	"torchx/cmd/internal/program"
	"torchx/runtime/runner"
)

// sayCheckoutChanges warns if the git checkout is not in the state in which the app was
// submitted. Untracked files do not count: they may be what the app wrote.
func sayCheckoutChanges(ctx context.Context, f *program.Factory, past *runner.Recorded) {
	then, handle := past.Checkout, past.Ref.Handle()
	if then == nil {
		return
	}
	now := program.ProvenanceNow(ctx, f.Env)
	if now == nil {
		return
	}
	const hint = "`torchx describe --diff %s` prints them"
	switch {
	case then.Commit != now.Commit:
		with := ""
		if then.Changed > 0 {
			with = " with uncommitted changes"
		}
		f.Warn("the git commit changed since %s ran: was %s%s, now %s", handle,
			program.CommitText(then), with, program.CommitText(now))
	case then.Dirty == nil || now.Dirty == nil || then.DiffSum == now.DiffSum &&
		then.Changed == now.Changed:
	case now.Changed == 0:
		f.Warn("%s ran with uncommitted changes, which the checkout does not have now ("+hint+")", handle, handle)
	case then.Changed == 0:
		f.Warn("%s ran without uncommitted changes, the checkout has some now: %s", handle,
			program.ChangesText(now))
	default:
		f.Warn("the uncommitted changes differ from those that %s ran with (%s)", handle,
			fmt.Sprintf(hint, handle))
	}
}
