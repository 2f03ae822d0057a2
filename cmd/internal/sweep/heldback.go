package sweep

import (
	"bytes"
	"io"
	"sync"
)

// heldBack is stderr that holds messages back while the screen shows a table.
type heldBack struct {
	screen io.Writer

	mu    sync.Mutex
	holds bool
	held  bytes.Buffer
	news  chan struct{} // receives when a message was held back
}

func newHeldBack(screen io.Writer) *heldBack {
	return &heldBack{screen: screen, news: make(chan struct{}, 1)}
}

func (h *heldBack) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.holds {
		return h.screen.Write(p)
	}
	select {
	case h.news <- struct{}{}:
	default:
	}
	return h.held.Write(p)
}

// hold holds messages back from now on.
func (h *heldBack) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = true
}

// release prints the messages that were held back.
func (h *heldBack) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = false
	_, _ = h.held.WriteTo(h.screen) // an error of stderr cannot be reported
}

// last returns the last message that is held back, "" if there is none.
func (h *heldBack) last() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := bytes.TrimRight(h.held.Bytes(), "\n")
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}
