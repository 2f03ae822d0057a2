package follow

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// TestPendingAnnouncer: a reason that lasts is printed once; other statuses print nothing.
func TestPendingAnnouncer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newPendingAnnouncer(ui.NewConsole(ui.Streams{Err: &out}), "kubernetes://torchx/default:a")
		p.stop = func() {}
		// observe shows a status for some of the bubble's time, which nothing but these sleeps moves.
		observe := func(state spec.State, msg string, lasts time.Duration) {
			p.observe(&spec.Status{State: state, Msg: msg})
			time.Sleep(lasts)
			synctest.Wait()
		}
		observe(spec.Pending, spec.QueuedMark+"waits for a GPU", hintTime-1)
		observe(spec.Pending, "a reason that does not last", hintTime-1)
		observe(spec.Pending, "waits: no image", hintTime-1)
		if got := out.String(); got != "" {
			t.Errorf("got %q before a reason has lasted, want nothing", got)
		}
		observe(spec.Pending, "waits: no image", 1)
		want := "torchx: kubernetes://torchx/default:a is PENDING: waits: no image\n"
		if got := out.String(); got != want {
			t.Errorf("got %q when it has lasted, want %q", got, want)
		}
		observe(spec.Running, "replica r/0 is being stopped", 2*hintTime)
		observe(spec.Pending, "waits: no image", 2*hintTime)
		observe(spec.Submitted, spec.PreparingMark+"pull a:1", 2*hintTime)
		want += "torchx: kubernetes://torchx/default:a is SUBMITTED: preparing: pull a:1\n"
		observe(spec.Pending, "waits: 12 more needed", hintTime)
		observe(spec.Pending, "waits: 9 more needed", numberPause/2)
		observe(spec.Pending, "waits: 1 more needed", numberPause/2)
		want += "torchx: kubernetes://torchx/default:a is PENDING: waits: 12 more needed\n"
		want += "torchx: kubernetes://torchx/default:a is PENDING: waits: 1 more needed\n"
		for _, msg := range []string{"waits: no image", "replica r/1 waits: no room"} {
			p.observe(&spec.Status{State: spec.Running, Waiting: true, Msg: msg})
			time.Sleep(2 * hintTime)
			synctest.Wait()
		}
		want += "torchx: kubernetes://torchx/default:a is RUNNING: replica r/1 waits: no room\n"
		for _, reason := range []string{"is being canceled", "replica r/1 is being stopped", "is being canceled"} {
			p.setReason(reason) // as AnnounceEnding does
			time.Sleep(2 * hintTime)
			synctest.Wait()
		}
		want += "torchx: kubernetes://torchx/default:a is being canceled\n"
		want += "torchx: kubernetes://torchx/default:a replica r/1 is being stopped\n"
		p.close()
		if got := out.String(); got != want {
			t.Errorf("got %q in the end, want each reason once: %q", got, want)
		}
	})
}

// TestSayWaiting: what follows an app says at once why it waits, and no announcer says it again.
func TestSayWaiting(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state     spec.State
		msg, want string
	}{
		{spec.Submitted, spec.PreparingMark + "pull a:1", "torchx: h is SUBMITTED: preparing: pull a:1\n"},
		{spec.Pending, spec.QueuedMark + "waits for a GPU", "torchx: h " + spec.QueuedMark + "waits for a GPU\n"},
		{spec.Pending, "", "torchx: waiting for h to start: it is PENDING\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			c := ui.NewConsole(ui.Streams{Err: &out})
			p := newPendingAnnouncer(c, "h")
			p.stop = func() {}
			s := &spec.Status{Handle: "h", State: test.state, Msg: test.msg}
			SayWaiting(c, s)
			p.observe(s)
			time.Sleep(2 * hintTime)
			synctest.Wait()
			p.close()
			if got := out.String(); got != test.want {
				t.Errorf("%s %q: got %q, want %q", test.state, test.msg, got, test.want)
			}
		})
	}
}
