package kubernetes

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// oldJobSet is the response of a server 1.34 with a JobSet older than 0.8.
const oldJobSet = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"JobSet in version \"v1alpha2\" cannot be handled as a JobSet: strict decoding error: unknown field \"spec.replicatedJobs[1].dependsOn\"","reason":"BadRequest","code":400}`

// TestOldJobSet: an app whose roles wait for each other is refused, before anything is created, by a
// JobSet that would start them together, also without the check of the other objects.
func TestOldJobSet(t *testing.T) {
	t.Parallel()
	for _, validate := range []bool{true, false} {
		checked := false
		s := &site{T: t, namespace: "default"}
		s.Backend = s.as(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body, err := io.ReadAll(r.Body)
			switch q := r.URL.Query(); {
			case r.Method == http.MethodPost && (q.Get("dryRun") != "All" || err != nil):
				t.Errorf("%s %s: created an object, want a check only (%v)", r.Method, r.URL, err)
				fallthrough
			default:
				w.WriteHeader(http.StatusNotFound)
			case r.URL.Path == "/apis":
				_ = json.NewEncoder(w).Encode(groups("jobset.x-k8s.io/v1alpha2"))
			case strings.HasSuffix(r.URL.Path, "/jobsets") && q.Get("fieldValidation") == "Strict" && bytes.Contains(body, []byte(`"dependsOn":[{"name":"lead"`)):
				checked = true
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, oldJobSet)
			}
		})))
		app := sleepers()
		app.Roles[1].Metadata = map[string]any{spec.OrderKey: map[string]any{"depends_on": map[string]any{"lead": "succeeded"}}}
		p := s.planOf("default:pair-1", app, map[string]any{"gang": "jobset", "validate_spec": validate})
		if err := s.Submit(t.Context(), p); err == nil || !checked || !strings.Contains(err.Error(), "install JobSet 0.8 or later") {
			t.Errorf("validate_spec=%v: got %v, checked: %v, want that JobSet is too old", validate, err, checked)
		}
	}
}
