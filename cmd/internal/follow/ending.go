package follow

import (
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// AnnounceEnding prints on stderr why a canceled app has not ended yet, such as a node that does
// not answer, each reason once, until stop is called.
func AnnounceEnding(c *ui.Console, r *runner.Runner, ref runner.Ref) (stop func()) {
	p := newPendingAnnouncer(c, ref.Handle())
	p.stop = r.Observe(ref, func(s *spec.Status) {
		reason := ""
		if !s.State.Terminal() && s.Msg != "" {
			reason = s.Msg
		}
		p.setReason(reason)
	})
	return p.close
}
