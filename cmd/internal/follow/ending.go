package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// unstoppedTime is how long a canceled app may take to end before its replicas are named that
// have not stopped.
const unstoppedTime = 5 * time.Second

// AnnounceEnding prints on stderr why a canceled app has not ended yet, such as a node that does
// not answer, each reason once, and which replicas ignore the request, until stop is called. kill
// says what to type to kill them.
func AnnounceEnding(c *ui.Console, r *runner.Runner, ref runner.Ref, kill string) (stop func()) {
	p := newPendingAnnouncer(c, ref.Handle())
	p.stop = r.Observe(ref, func(s *spec.Status) {
		reason := ""
		if !s.State.Terminal() && s.Msg != "" {
			reason = s.Msg
		}
		p.setReason(reason)
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-time.After(unstoppedTime):
			sayUnstopped(ctx, c, r, ref, kill)
		case <-ctx.Done():
		}
	}()
	return func() {
		cancel()
		<-done
		p.close()
	}
}

// sayUnstopped names the replicas that still run, and says when they are killed.
func sayUnstopped(ctx context.Context, c *ui.Console, r *runner.Runner, ref runner.Ref, kill string) {
	s, err := r.Status(ctx, ref)
	if err != nil {
		return // the wait for the app says why
	}
	var names []string
	for _, role := range s.Roles {
		for i := range role.Replicas {
			if one := &role.Replicas[i]; one.State == spec.Running {
				names = append(names, fmt.Sprintf("%s/%d", role.Role, one.ID))
			}
		}
	}
	if len(names) > 0 {
		c.Say("%s", unstopped(names, gracePeriod(ctx, r, ref), kill))
	}
}

// unstopped says that replicas have not stopped, for an app with that grace period, 0 if it is
// unknown.
func unstopped(names []string, grace time.Duration, kill string) string {
	shown := names
	if most := 3; len(names) > most {
		shown = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	verb, them := "has", "it"
	if len(names) > 1 {
		verb, them = "have", "them"
	}
	until := "after the grace period"
	if left := grace - unstoppedTime; left > 0 {
		until = "in " + humanize.FormatDuration(left)
	}
	return fmt.Sprintf("%s %s not stopped after %s: SIGKILL ends %s %s (%s kills %s now)",
		strings.Join(shown, ", "), verb, humanize.FormatDuration(unstoppedTime), them, until, kill, them)
}

// gracePeriod returns the time between SIGTERM and SIGKILL that the options of an app have; 0 if
// its backend has no such option.
func gracePeriod(ctx context.Context, r *runner.Runner, ref runner.Ref) time.Duration {
	v, err := r.Describe(ctx, ref)
	if err != nil {
		return 0
	}
	var cfg struct {
		GracePeriod float64 `json:"grace_period"` // in seconds
	}
	_ = json.Unmarshal(v.Cfg, &cfg) // without it, the time is unknown
	return time.Duration(cfg.GracePeriod * float64(time.Second))
}
