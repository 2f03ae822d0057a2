package kube

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A server that takes few streams on one connection gets more connections: all logs
// of a large app flow.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	// As many as API servers take, and as clients take for granted until a server has said
	// what it takes: with fewer, streams that were begun before would be refused.
	const most, streams = 100, 250
	var mu sync.Mutex
	connections := map[string]bool{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("protocol %s, want r.ProtoMajor == 2", r.Proto)
		}
		mu.Lock()
		connections[r.RemoteAddr] = true
		mu.Unlock()
		fmt.Fprintln(w, r.URL.Path)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: most}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	c := reach(t, s.URL, write(t, "ca", string(ca)), nil)

	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			body, err := c.Stream(t.Context(), Pods, "default", fmt.Sprint("pod-", i), "log", map[string]string{"follow": "true"})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { body.Close() })
			line, err := bufio.NewReader(body).ReadString('\n')
			if want := fmt.Sprintf("/api/v1/namespaces/default/pods/pod-%d/log\n", i); line != want || err != nil {
				t.Errorf("got %q, %v, want line == want and no error", line, err)
			}
		})
	}
	all.Wait()
	if len(connections) < streams/most {
		t.Errorf("%d connections have %d streams, the server takes %d on each", len(connections), streams, most)
	}
}
