package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// serverWith returns a server of a handler, to be started, and the channel of its connections that end.
func serverWith(t *testing.T, h http.HandlerFunc, patience time.Duration) (*httptest.Server, chan struct{}) {
	t.Helper()
	closed := make(chan struct{}, 10)
	s := httptest.NewUnstartedServer(dropSlow(h, patience))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	return s, closed
}

func wait[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatalf("waited a minute for %s", what)
	}
	return v
}

// A client that asks and reads nothing holds neither the answer nor the connection.
func TestSlowReaderIsDropped(t *testing.T) {
	t.Parallel()
	for name, flush := range map[string]bool{"an answer": false, "a stream": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := make(chan error, 1)
			s, closed := serverWith(t, func(w http.ResponseWriter, _ *http.Request) {
				for block := make([]byte, 1<<20); ; {
					if flush {
						block = block[:100]
					}
					_, err := w.Write(block)
					if err == nil && flush {
						err = http.NewResponseController(w).Flush()
					}
					if err != nil {
						failed <- err
						return
					}
				}
			}, 200*time.Millisecond)
			s.Start()
			defer s.Close()
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if err := wait(t, failed, "the write to fail"); !os.IsTimeout(err) {
				t.Errorf("got %v, want a timeout", err)
			}
			wait(t, closed, "the end of the connection")
		})
	}
}

// A stream outlives the deadline of its events, also over HTTP/2.
func TestQuietStreamStays(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	s, _ := serverWith(t, func(w http.ResponseWriter, r *http.Request) {
		for range 2 {
			if _, err := fmt.Fprintf(w, "%s\n", r.Proto); err != nil {
				return
			}
			if http.NewResponseController(w).Flush() != nil {
				return
			}
			time.Sleep(3 * patience / 2) // nothing is sent meanwhile
		}
	}, patience)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	for i := range 2 {
		var proto string
		if _, err := fmt.Fscanln(answer.Body, &proto); err != nil || proto != "HTTP/2.0" {
			t.Fatalf("event %d: got %q, %v, want HTTP/2.0", i+1, proto, err)
		}
	}
}
