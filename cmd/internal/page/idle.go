package page

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// visits knows when the page was last visited.
type visits struct {
	last    atomic.Int64 // in unix ns
	clients func() int   // pages that are open
}

func newVisits(clients func() int) *visits {
	v := &visits{clients: clients}
	v.note()
	return v
}

func (v *visits) note() { v.last.Store(time.Now().UnixNano()) }

// wrap notes the requests to next.
func (v *visits) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.note()
		next.ServeHTTP(w, r)
		v.note()
	})
}

// wait returns when the page had no visitor for the given time, or ctx ends.
func (v *visits) wait(ctx context.Context, patience time.Duration) {
	for left := patience; left > 0; {
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return
		}
		if left = patience - time.Since(time.Unix(0, v.last.Load())); v.clients() > 0 {
			left = patience
		}
	}
}
