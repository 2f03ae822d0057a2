package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/sample"
)

// TestPodUsage uses a stand-in for a cluster with metrics-server.
func TestPodUsage(t *testing.T) {
	t.Parallel()
	var query string
	kubeconfig := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/metrics.k8s.io/v1beta1/namespaces/lab/pods":
			query = r.URL.Query().Get("labelSelector")
			_, _ = w.Write([]byte(`{"kind":"PodMetricsList","apiVersion":"metrics.k8s.io/v1beta1","metadata":{},"items":[
				{"metadata":{"name":"app-r-0","namespace":"lab"},"timestamp":"2026-11-22T12:00:00Z","window":"15s",
				 "containers":[{"name":"r","usage":{"cpu":"1500m","memory":"64Mi"}},{"name":"side","usage":{"cpu":"12345678n","memory":"1048576"}}]},
				{"metadata":{"name":"app-r-1"},"containers":[]}]}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"the server could not find the requested resource"}`))
		}
	}))
	open := func(id string) *target {
		b, err := New(Config{Home: t.TempDir(), Environ: []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}, Version: "test", Settings: func(context.Context, string) (backend.Config, error) {
			return backend.Config{}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		at, err := b.target(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, missing := b.UsageDir(t.Context(), id); !strings.Contains(missing, "archive=true") {
			t.Errorf("without an archive: got %q, want the option", missing)
		}
		return at
	}
	pods, err := open("lab:app").podUsage(t.Context())
	if err != nil || len(pods) != 2 || !strings.HasSuffix(query, "=app") {
		t.Fatalf("got %+v, %v with the selector %s", pods, err, query)
	}
	if r := pods["app-r-0"]; *r.Memory != 65<<20 || *r.Rate < 151 || *r.Rate > 152 || r.Source != sample.Metrics {
		t.Errorf("got %+v, want the sum of both containers", r)
	}
	if r := pods["app-r-1"]; r.Memory != nil || r.Rate != nil {
		t.Errorf("a pod without containers: got %+v, want nothing", r)
	}
	if _, err := open("other:app").podUsage(t.Context()); err == nil || !strings.Contains(err.Error(), "does not serve metrics.k8s.io") {
		t.Errorf("without metrics: got %v", err)
	}
}

func TestPodReadingOfBrokenUsage(t *testing.T) {
	t.Parallel()
	var p kube.PodUsage
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"x"},"containers":[{"usage":{"memory":"1Gi"}},{}]}`), &p); err != nil {
		t.Fatal(err)
	}
	if r := podReading(&p); r.Rate != nil || *r.Memory != 1<<30 {
		t.Errorf("got %+v, want only the memory", r)
	}
}
