package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// shareTime is how long an answer serves others who ask the same: all pages that show one thing
// ask at the same time, after the same event.
const shareTime = 250 * time.Millisecond

// shared answers with what read returns, or with what it returned for another client since the last
// event or action: after either, nothing older may be shown.
func (a *API) shared(
	w http.ResponseWriter, r *http.Request, read func(ctx context.Context) ([]byte, error),
) {
	key := fmt.Sprint(a.hub.Sent(), a.acted.Load(), r.URL.RequestURI())
	data, err := a.answers.get(key, func() ([]byte, error) {
		return read(context.WithoutCancel(r.Context())) // others may wait for it
	})
	if err != nil {
		fail(w, err)
		return
	}
	write(w, data)
}

// answers shares answers. Its zero value is ready.
type answers[T any] struct {
	mu   sync.Mutex
	made map[string]*sharedAnswer[T]
}

type sharedAnswer[T any] struct {
	ready chan struct{}
	value T
	err   error
}

// get returns the answer for a key, which read makes at most once at a time.
func (c *answers[T]) get(key string, read func() (T, error)) (T, error) {
	c.mu.Lock()
	if one := c.made[key]; one != nil {
		c.mu.Unlock()
		<-one.ready
		return one.value, one.err
	}
	if c.made == nil {
		c.made = map[string]*sharedAnswer[T]{}
	}
	one := &sharedAnswer[T]{ready: make(chan struct{}), err: errors.New("the answer was not made")}
	c.made[key] = one
	c.mu.Unlock()
	defer time.AfterFunc(shareTime, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.made, key)
	})
	defer close(one.ready)
	one.value, one.err = read()
	return one.value, one.err
}
