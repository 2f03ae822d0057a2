package kubernetes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"torchx/runtime/backend"
)

// TestCancelWithKueue: Kueue would resume a job that is only suspended. The test server has
// the paths and fields of Kueue's API.
func TestCancelWithKueue(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var patches []string
	kubeconfig := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPatch:
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			patches = append(patches, r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]+" "+string(body))
			mu.Unlock()
			fmt.Fprint(w, "{}")
		case r.URL.Path == "/apis":
			fmt.Fprint(w, `{"groups":[{"name":"kueue.x-k8s.io","versions":[{"version":"v1beta1"}]}]}`)
		case r.URL.Path == "/apis/kueue.x-k8s.io/v1beta1/namespaces/n/workloads" && r.URL.Query().Get("labelSelector") == "kueue.x-k8s.io/job-uid=u1":
			fmt.Fprint(w, `{"items":[{"metadata":{"name":"w1"}}]}`)
		case r.URL.Path == "/apis/jobset.x-k8s.io/v1alpha2/namespaces/n/jobsets/a":
			fmt.Fprint(w, `{"metadata":{"name":"a","uid":"u1","labels":{"kueue.x-k8s.io/queue-name":"q"}}}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	}))
	b, err := New(Config{
		Home: t.TempDir(), Version: "test", Environ: []string{"KUBECONFIG=" + kubeconfig},
		Settings: func(context.Context, string) (backend.Config, error) { return backend.Config{"gang": "jobset"}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Cancel(t.Context(), "n:a", backend.CancelOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(patches) != 2 || patches[0] != `w1 {"spec":{"active":false}}` || !strings.HasPrefix(patches[1], "a ") || !strings.Contains(patches[1], `"suspend":true`) {
		t.Errorf("got patches %q, want w1 deactivated, then a suspended", patches)
	}
}
