// Package stream sends changes of files to browsers as server-sent events.
//
//	Feed    what changes: files to watch, and a fingerprint that tells a change from a touch
//	Hub     one goroutine for each feed that has clients, whatever their number
//	Client  the events that one client has not taken yet: each kind once, so that a slow one costs
//	        nothing and misses nothing
package stream

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"torchx/runtime/procs"
)

// Feed is a source of events. The functions are called by one goroutine.
type Feed struct {
	Name string // identifies the feed
	Event
	// Paths returns the existing files and folders to watch now.
	Paths func(ctx context.Context) []string
	// Print returns a text that differs after a change.
	Print func() string
	// Observe, if set, calls changed until ctx ends: for what no file shows.
	Observe func(ctx context.Context, changed func())
}

// Event is a change of one kind, of a run or of none.
type Event struct{ Kind, AppID string }

// Files notifies of changes of files.
type Files interface {
	Watch(path string, c chan struct{})
	Unwatch(path string, c chan struct{})
}

// Hub distributes the events of feeds. Its methods are safe for concurrent use.
type Hub struct {
	ctx   context.Context
	files Files
	cpu   func() time.Duration // that this process has used

	mu      sync.Mutex
	feeds   map[string]*running
	clients int
	max     int
	sent    atomic.Int64
}

// running is a feed with clients.
type running struct {
	feed    Feed
	cancel  context.CancelFunc
	clients map[*Client]struct{}
	settled chan struct{} // closed when each later change is told
}

// NewHub returns a hub that works until ctx ends, for at most max clients.
func NewHub(ctx context.Context, files Files, maxClients int) *Hub {
	return &Hub{ctx: ctx, files: files, cpu: procs.CPUTime, feeds: map[string]*running{}, max: maxClients}
}

// Clients returns the number of clients.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clients
}

// Client takes the events of its feeds.
type Client struct {
	// Ready receives when Take returns events.
	Ready chan struct{}
	// Settled is closed when the client gets each later change of its feeds. It may have missed
	// earlier ones.
	Settled chan struct{}

	mu      sync.Mutex
	pending []Event
}

// Take returns the events since the last call, each once.
func (c *Client) Take() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	events := c.pending
	c.pending = nil
	return events
}

func (c *Client) add(e Event) {
	c.mu.Lock()
	if !slices.Contains(c.pending, e) {
		c.pending = append(c.pending, e)
	}
	c.mu.Unlock()
	wake(c.Ready)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Subscribe returns a client of feeds, and a function that ends it; false if there are too many.
func (h *Hub) Subscribe(feeds []Feed) (*Client, func(), bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients >= h.max {
		return nil, nil, false
	}
	h.clients++
	c := &Client{Ready: make(chan struct{}, 1), Settled: make(chan struct{})}
	var settled []chan struct{}
	for _, feed := range feeds {
		f := h.feeds[feed.Name]
		if f == nil {
			ctx, cancel := context.WithCancel(h.ctx)
			f = &running{feed: feed, cancel: cancel, clients: map[*Client]struct{}{}, settled: make(chan struct{})}
			h.feeds[feed.Name] = f
			go h.run(ctx, f)
		}
		f.clients[c] = struct{}{}
		settled = append(settled, f.settled)
	}
	go func() {
		defer close(c.Settled)
		for _, one := range settled {
			<-one
		}
	}()
	return c, sync.OnceFunc(func() { h.leave(c, feeds) }), true
}

func (h *Hub) leave(c *Client, feeds []Feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients--
	for _, feed := range feeds {
		f := h.feeds[feed.Name]
		if f == nil {
			continue // named twice
		}
		if delete(f.clients, c); len(f.clients) == 0 {
			f.cancel()
			delete(h.feeds, feed.Name)
		}
	}
}

// run sends the events of a feed until it has no clients.
func (h *Hub) run(ctx context.Context, f *running) {
	changed := make(chan struct{}, 1)
	watched := map[string]bool{}
	settle := sync.OnceFunc(func() {
		h.sent.Add(1) // what was read before may lack a change that is told to no client
		close(f.settled)
	})
	defer func() {
		settle()
		for path := range watched {
			h.files.Unwatch(path, changed)
		}
	}()
	if f.feed.Observe != nil {
		go f.feed.Observe(ctx, func() { wake(changed) })
	}
	before, looked := "", time.Time{}
	for first := true; ; first = false {
		sleep(ctx, time.Until(looked.Add(pace)))
		looked = time.Now()
		for h.watch(watched, f.feed.Paths(ctx), changed) { // until what is new in a folder is watched, too
			if ctx.Err() != nil {
				return
			}
		}
		switch now := f.feed.Print(); {
		case now == before || first:
			before = now
			settle()
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		default:
			before = now
			p := h.pauseOf(now)
			h.send(f)
			// While a file grows all the time, its writer must not wait for the watch.
			h.watch(watched, nil, changed)
			h.rest(ctx, f, p)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// watch makes watched the wanted paths and reports whether one is new.
func (h *Hub) watch(watched map[string]bool, wanted []string, changed chan struct{}) (added bool) {
	for path := range watched {
		if !slices.Contains(wanted, path) {
			h.files.Unwatch(path, changed)
			delete(watched, path)
		}
	}
	for _, path := range wanted {
		if !watched[path] {
			h.files.Watch(path, changed)
			watched[path], added = true, true
		}
	}
	return added
}

// Sent returns a number that grows before a client has an event, and before it is settled.
func (h *Hub) Sent() int64 { return h.sent.Load() }

func (h *Hub) send(f *running) {
	h.sent.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range f.clients {
		c.add(f.feed.Event)
	}
}
