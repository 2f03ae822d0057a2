package tty

import (
	"io"
	"sync"
)

// Gate is a writer that blocks writes while it is closed.
type Gate struct {
	w io.Writer

	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	err  error // of every write, once it is set
}

// NewGate returns an open gate that writes to w.
func NewGate(w io.Writer) *Gate {
	g := &Gate{w: w}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *Gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	for g.shut && g.err == nil {
		g.cond.Wait()
	}
	err := g.err
	g.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return g.w.Write(p)
}

// Close makes writes wait for Open.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

// Open lets writes through.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.cond.Broadcast()
}

// Fail makes all writes return err, including those that wait.
func (g *Gate) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	g.cond.Broadcast()
}
