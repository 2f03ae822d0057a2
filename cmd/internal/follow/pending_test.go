package follow

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// output is a buffer for several goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// TestPendingAnnouncer: a reason that lasts is printed once; other statuses print nothing.
func TestPendingAnnouncer(t *testing.T) {
	t.Parallel()
	var out output
	p := &pendingAnnouncer{console: ui.NewConsole(ui.Streams{Err: &out}), handle: "kubernetes://torchx/default:a", stop: func() {}, printed: map[string]bool{}}
	p.observe(&spec.Status{State: spec.Pending, Msg: ui.QueuedMark + "waits for a GPU"})
	p.observe(&spec.Status{State: spec.Pending, Msg: "a reason that does not last"})
	for range 3 {
		p.observe(&spec.Status{State: spec.Pending, Msg: "waits: no image"})
	}
	want := "torchx: kubernetes://torchx/default:a is PENDING: waits: no image\n"
	for began := time.Now(); out.String() == "" && time.Since(began) < time.Minute; {
		time.Sleep(10 * time.Millisecond)
	}
	p.observe(&spec.Status{State: spec.Running, Msg: "replica r/0 is being stopped"})
	p.observe(&spec.Status{State: spec.Pending, Msg: "waits: no image"})
	p.close()
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
