package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The clock is that of synctest.
func TestEndsADayAfterTheLastVisit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		visit func(v *visits, clients *atomic.Int32)
		want  time.Duration
	}{
		"no visit": {func(*visits, *atomic.Int32) {}, idleLimit},
		"visits": {func(v *visits, _ *atomic.Int32) {
			h := v.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) }))
			for range 2 {
				time.Sleep(22 * time.Hour)
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
			}
		}, 46*time.Hour + idleLimit},
		"an open page": {func(v *visits, clients *atomic.Int32) {
			clients.Store(1)
			time.Sleep(100 * time.Hour)
			clients.Store(0)
			v.note() // its request ends
		}, 100*time.Hour + idleLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var clients atomic.Int32
				began := time.Now()
				v := newVisits(func() int { return int(clients.Load()) })
				go tt.visit(v, &clients)
				v.wait(t.Context(), idleLimit)
				if got := time.Since(began); got != tt.want {
					t.Errorf("ended after %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newVisits(func() int { return 1 }).wait(ctx, idleLimit)
}
