package stream

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// growing is a feed of a file that the test lets grow. The clock is that of synctest.
type growing struct {
	*Hub
	mu      sync.Mutex
	size    int
	watched map[chan struct{}]bool
	used    time.Duration   // CPU time of the server
	events  []time.Duration // since began
	sizes   []int           // at the events
	began   time.Time
	// searches is the number of processors that something else uses.
	searches int
}

// follow starts clients of a file. Each event costs the server CPU time.
func follow(t *testing.T, clients int, cost time.Duration) *growing {
	t.Helper()
	g := &growing{watched: map[chan struct{}]bool{}, began: time.Now()}
	g.Hub = NewHub(t.Context(), g, clients)
	g.cpu = func() time.Duration {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.used + time.Duration(g.searches)*time.Since(g.began)
	}
	feed := Feed{
		Name: "log", Event: Event{Kind: "log"},
		Paths: func(context.Context) []string { return []string{"log"} },
		Print: func() string { return strconv.Itoa(g.Size()) },
	}
	for i := range clients {
		c, leave, _ := g.Subscribe([]Feed{feed})
		t.Cleanup(leave)
		go func() {
			for {
				select {
				case <-c.Ready:
					c.Take()
					g.take(i == 0, cost)
				case <-t.Context().Done():
					return
				}
			}
		}()
	}
	synctest.Wait()
	return g
}

// take notes an event that a client took.
func (g *growing) take(first bool, cost time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used += cost
	if first {
		g.events, g.sizes = append(g.events, time.Since(g.began)), append(g.sizes, g.size)
	}
}

func (g *growing) Size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.size
}

// grow adds to the file.
func (g *growing) grow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size++
	for c := range g.watched {
		wake(c)
	}
}

func (g *growing) Watch(_ string, c chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.watched[c] = true
}

func (g *growing) Unwatch(_ string, c chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.watched, c)
}

// growEvery lets the file grow for a time, and returns when the last events have come.
func (g *growing) growEvery(gap, long time.Duration) (ended time.Duration) {
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(gap) {
		g.grow()
		ended = time.Since(g.began)
	}
	time.Sleep(10 * time.Second)
	return ended
}

// count returns the number of events.
func (g *growing) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.events)
}

// last checks that the last event has the end of the file and came promptly.
func (g *growing) last(t *testing.T, ended, promptly time.Duration) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.events) - 1
	if n < 0 || g.sizes[n] != g.size {
		t.Fatalf("got events for %v, want the last for %d", g.sizes, g.size)
	}
	if delay := g.events[n] - ended; delay > promptly {
		t.Errorf("the last event came %v after the last change, want at most %v", delay, promptly)
	}
}

func TestAFloodCostsAShare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clients     int
		cost        time.Duration // of each client
		least, most int           // events in a minute
	}{
		"a cheap client": {1, time.Millisecond, 400, 490},
		"a client":       {1, 3 * time.Millisecond, 190, 210},
		"50 clients":     {50, 300 * time.Microsecond, 38, 46},
		"500 clients":    {500, 300 * time.Microsecond, 19, 27},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := follow(t, tt.clients, tt.cost)
				ended := g.growEvery(time.Millisecond, time.Minute)
				if n := g.count(); n < tt.least || n > tt.most {
					t.Errorf("got %d events in a minute, want %d to %d", n, tt.least, tt.most)
				}
				g.last(t, ended, longPace)
			})
		})
	}
}

func TestTheEndOfAFloodComesPromptly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := follow(t, 50, 300*time.Microsecond)
		for range 20 {
			ended := g.growEvery(time.Millisecond, 1700*time.Millisecond)
			g.last(t, ended, pace+2*lookPace)
		}
	})
}

func TestLinesOfAnAppComeAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := follow(t, 1, time.Millisecond)
		time.Sleep(time.Second)
		for range 50 {
			g.last(t, g.growEvery(1, 1), 0)
		}
		before := g.count()
		ended := g.growEvery(100*time.Millisecond, 10*time.Second)
		if n := g.count() - before; n < 50 {
			t.Errorf("got %d events of 100 lines in 10 s, want at least 50", n)
		}
		g.last(t, ended, 2*pace)
	})
}

// A search takes all the time of a processor.
func TestOtherWorkDoesNotDelayEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := follow(t, 1, 0)
		g.mu.Lock()
		g.searches = 1
		g.mu.Unlock()
		g.growEvery(time.Millisecond, 10*time.Second)
		if n := g.count(); n < 20 {
			t.Errorf("got %d events in 10 s, want at least 20", n)
		}
	})
}
