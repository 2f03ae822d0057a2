package kubernetes

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// notSplit is the response of a server 1.34 whose feature gate is off.
const notSplit = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"PodLogOptions \"torchx-stream-probe\" is invalid: stream: Forbidden: may not be specified","reason":"Invalid","details":{"name":"torchx-stream-probe","kind":"PodLogOptions","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: may not be specified","field":"stream"}]},"code":422}`

// TestUnsplitStreams: one stream is refused by a cluster that does not separate streams, or
// is too old to have the parameter.
func TestUnsplitStreams(t *testing.T) {
	t.Parallel()
	for _, minor := range []string{"31", "31+", "34"} {
		t.Run("1."+minor, func(t *testing.T) {
			t.Parallel()
			probed := false
			file := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/version":
					_ = json.NewEncoder(w).Encode(map[string]string{"major": "1", "minor": minor})
				case strings.HasSuffix(r.URL.Path, "/log"):
					probed = true
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = w.Write([]byte(notSplit))
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			}))
			h := &logHome{t, &clustertest.Cluster{}, "default", t.TempDir()}
			_, _, err := h.read(h.open(file), "default:app", 0, backend.LogOptions{Stream: backend.Stderr})
			if !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "stderr alone cannot be read") {
				t.Errorf(`error %v, want errors.Is(err, backend.ErrUnsupported) and Contains(err.Error(), "stderr alone cannot be read")`, err)
			}
			if _, _, err := h.read(h.open(file), "default:app", 0, backend.LogOptions{Stream: "no"}); !errors.Is(err, backend.ErrInvalidOption) {
				t.Errorf("an unknown stream: %v, want errors.Is(err, backend.ErrInvalidOption)", err)
			}
			if want := minor == "34"; probed != want {
				t.Errorf("got a probe of the server: %v, want %v", probed, want)
			}
		})
	}
}

// TestSplitStreams: a cluster that separates streams sends each alone, and each is archived
// separately.
func TestSplitStreams(t *testing.T) {
	t.Parallel()
	if clustertest.Need(t); !strings.Contains(os.Getenv("K8S_FEATURE_GATES"), "PodLogsQuerySplitStreams=true") {
		t.Fatal("the test cluster does not separate streams: set K8S_FEATURE_GATES=PodLogsQuerySplitStreams=true, as make e2e-k8s does")
	}
	h := newLogHome(t)
	id := h.run(nil, 1, "for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.1; done; printf end")
	b := h.open(h.cluster.Kubeconfig)
	want := map[backend.Stream]string{backend.Stdout: "out 1\nout 2\nout 3\nend", backend.Stderr: "err 1\nerr 2\nerr 3\n"}
	for _, follow := range []bool{true, false} {
		for stream, text := range want {
			got, notices, err := h.read(b, id, 0, backend.LogOptions{Stream: stream, Follow: follow, Tail: -1})
			if got != text || err != nil || len(notices) > 0 {
				t.Errorf("%s, follow %v: %q, want %q (%q, %v)", stream, follow, got, text, notices, err)
			}
		}
	}
	if got, _, err := h.read(b, id, 0, backend.LogOptions{Stream: backend.Stderr, Tail: 1}); got != "err 3\n" || err != nil {
		t.Errorf("got last line %q, %v, want %q", got, err, "err 3\n")
	}
	both, _, err := h.read(b, id, 0, backend.LogOptions{Tail: -1})
	if strings.Count(both, "\n") != 6 || !strings.HasSuffix(both, "end") || err != nil {
		t.Errorf("got both streams %q, %v, want 6 lines and the end", both, err)
	}
	// The lines outlive the app.
	k, err := b.RetainableLogs(t.Context(), id, backend.DeleteOptions{KeepLogs: true})
	if err != nil || k == nil {
		t.Fatal(k, err)
	}
	k.Dir = archives.Dir(h.home, id)
	r, err := b.OpenRetainedLogs(t.Context(), k, spec.Replica{Role: "worker"}, backend.LogOptions{Stream: backend.Stderr, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := drain(t.Context(), r); got != want[backend.Stderr] || err != nil {
		t.Errorf("kept: %q, %v, want got == want[backend.Stderr] and no error", got, err)
	}
}
