package tty

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// Gate is a writer that can hold writes up.
type Gate struct {
	w io.Writer

	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	err  error // of every write, once it is set
}

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

func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.cond.Broadcast()
}

// Fail ends writes, held up or not.
func (g *Gate) Fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	g.cond.Broadcast()
}

// IsTerminalInput reports whether r is a terminal to read answers from.
func IsTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
