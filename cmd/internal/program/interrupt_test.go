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

func TestInterruptsOfAnEndedCommand(t *testing.T) {
	t.Parallel()
	_, i := watchSignals(t.Context(), make(chan os.Signal))
	i.setAbandon(func() { t.Error("a command that has ended was ended again") })
	i.stop()
	i.force()
}
