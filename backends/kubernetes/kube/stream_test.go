package kube

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"torchx/test/openfiles"
)

// TestManyStreams: the client opens more connections if the server limits the streams of
// one, so that all logs of a large app can be followed.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	// The limit of API servers, which clients assume until the server sends its limit. With a
	// lower limit the server would refuse streams that began before.
	const maxStreams = 100
	streams := openfiles.AtMost(t, 250, 2)
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
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
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
	if len(connections) < streams/maxStreams {
		t.Errorf("got %d connections for %d streams, want at least %d", len(connections), streams, streams/maxStreams)
	}
}
