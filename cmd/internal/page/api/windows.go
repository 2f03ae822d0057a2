package api

import (
	"sync"
	"time"
)

// windowTime is how long an answer serves others who ask the same: many pages that follow one log
// ask at the same time, after the same event.
const windowTime = 250 * time.Millisecond

// windows shares answers. Its zero value is ready.
type windows struct {
	mu      sync.Mutex
	answers map[string]*window
}

type window struct {
	ready chan struct{}
	data  []byte
	err   error
}

// get returns the answer for a key, which read makes at most once at a time.
func (w *windows) get(key string, read func() ([]byte, error)) ([]byte, error) {
	w.mu.Lock()
	if one := w.answers[key]; one != nil {
		w.mu.Unlock()
		<-one.ready
		return one.data, one.err
	}
	if w.answers == nil {
		w.answers = map[string]*window{}
	}
	one := &window{ready: make(chan struct{})}
	w.answers[key] = one
	w.mu.Unlock()
	defer time.AfterFunc(windowTime, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.answers, key)
	})
	defer close(one.ready)
	one.data, one.err = read()
	return one.data, one.err
}
