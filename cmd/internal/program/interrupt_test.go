package program

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestTwoInterruptsEndACommand: the second signal ends a command even if the handler of the
// first hangs.
func TestTwoInterruptsEndACommand(t *testing.T) {
	t.Parallel()
	for _, second := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(second.String(), func(t *testing.T) {
			t.Parallel()
			testSecondSignal(t, second)
		})
	}
}

func testSecondSignal(t *testing.T, second os.Signal) {
	signals := make(chan os.Signal, 8)
	ctx, i := watchSignals(t.Context(), signals)
	defer i.stop()
	abandoned := make(chan bool)
	i.setAbandon(func() { close(abandoned) })
	signals <- os.Interrupt
	<-ctx.Done()
	i.SetHandler(func(os.Signal) { <-abandoned })
	i.mu.Lock()
	i.grace = time.Millisecond
	i.mu.Unlock()
	select {
	case <-abandoned:
		t.Fatal("the first one ended the process")
	default:
	}
	signals <- second
	<-abandoned
}

// TestWorkIsNotCut: the second signal ends a command only when its work has ended, and a while after.
func TestWorkIsNotCut(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 8)
	ctx, i := watchSignals(t.Context(), signals)
	defer i.stop()
	done, abandoned := i.Work(), make(chan struct{})
	i.mu.Lock()
	i.grace = 50 * time.Millisecond
	i.mu.Unlock()
	i.setAbandon(func() { close(abandoned) })
	signals <- os.Interrupt
	<-ctx.Done()
	signals <- os.Interrupt
	select {
	case <-abandoned:
		t.Fatal("the work was cut")
	case <-time.After(200 * time.Millisecond):
	}
	ended := time.Now()
	done()
	<-abandoned
	if after := time.Since(ended); after < 50*time.Millisecond {
		t.Errorf("the command ended %v after its work, want 50ms at least", after)
	}
}

func TestInterruptsOfAnEndedCommand(t *testing.T) {
	t.Parallel()
	_, i := watchSignals(t.Context(), make(chan os.Signal))
	i.setAbandon(func() { t.Error("a command that has ended was ended again") })
	i.stop()
	i.force()
}
