package kubernetes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// observed is a backend behind a proxy that counts requests.
type observed struct {
	*Backend
	proxy     *clustertest.Proxy
	namespace string
	gang      manifest.Form
}

// eachForm runs a test on a real cluster in every form.
func eachForm(t *testing.T, run func(t *testing.T, o *observed)) {
	t.Helper()
	cluster := clustertest.Need(t)
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			proxy := cluster.Proxy(t)
			o := &observed{proxy: proxy, namespace: cluster.Namespace(t), gang: gang}
			b, err := New(Config{Home: t.TempDir(), Exe: "/no/such", Version: "test", Environ: []string{"KUBECONFIG=" + proxy.Kubeconfig}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			o.Backend = b
			run(t, o)
		})
	}
}

// start submits a role "r" that runs a shell script.
func (o *observed) start(t *testing.T, replicas int, script string, change func(r *spec.Role), cfg map[string]string) string {
	t.Helper()
	r := spec.NewRole("r", clustertest.Image)
	r.Entrypoint, r.Args, r.NumReplicas = "sh", []string{"-c", script}, replicas
	if change != nil {
		change(&r)
	}
	all := map[string]string{"namespace": o.namespace, "gang": string(o.gang)}
	maps.Copy(all, cfg)
	resolved, _, err := backend.Resolve(o.Options(), backend.DefaultsLayer(all, "test"))
	if err != nil {
		t.Fatal(err)
	}
	app := &spec.App{Name: "observed", Roles: []spec.Role{r}, Metadata: map[string]any{}}
	// Volcano's controller can miss a Job that takes the name of one just deleted.
	id := fmt.Sprintf("observed-%x", rand.Uint32())
	p, err := o.Plan(t.Context(), backend.PlanInput{ID: id, App: app, Cfg: resolved, Cwd: t.TempDir(), DefaultImage: clustertest.Image})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// until describes an app until ok accepts its status, and returns the number of requests
// of the last call.
func (o *observed) until(t *testing.T, id, what string, ok func(s *spec.Status) bool) (requests int) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		o.proxy.Requests() // reset the count
		s, err := o.Describe(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if ok(s) {
			return len(o.proxy.Requests())
		}
		if time.Now().After(deadline) {
			t.Fatalf("got state %v (%s), want an app that is %s", s.State, s.Msg, what)
		}
	}
}

// TestRequests: a status takes three requests, also for an app without a local record, and
// names what the app waits for.
func TestRequests(t *testing.T) {
	t.Parallel()
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 5, "sleep 600", nil, nil)
		if n := o.until(t, id, "RUNNING", func(s *spec.Status) bool { return s.State == spec.Running }); n > 4 { // one more while a node is slow to start a pod
			t.Errorf("got %d requests for a running app, want n <= 4", n)
		}
		if err := o.Delete(t.Context(), id, backend.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		id = o.start(t, 2, "true", func(r *spec.Role) { r.Image = "no.such/image:1" }, nil)
		n := o.until(t, id, "waiting for its image", func(s *spec.Status) bool {
			return s.State == spec.Pending && strings.Contains(s.Msg, "image no.such/image:1 cannot be pulled: ")
		})
		if n > 3 {
			t.Errorf("got %d requests for an app that waits, want n <= 3", n)
		}
	})
}

// TestErrorFileArrives: the error file of a program reaches the status, also for a later
// client.
func TestErrorFileArrives(t *testing.T) {
	t.Parallel()
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 1, `echo '{"message": "boom"}' > $TORCHELASTIC_ERROR_FILE; exit 9`, nil, nil)
		s, err := o.Wait(t.Context(), id)
		if err != nil || s.State != spec.Failed || *s.ExitCode != 9 || string(s.StructuredErrorMsg) != `{"message": "boom"}` {
			t.Fatalf("got %+v, %v, want no error and s.State == spec.Failed and *s.ExitCode == 9 and string(s.StructuredErrorMsg) == `{\"message\": \"boom\"}`", s, err)
		}
		n := o.until(t, id, "FAILED with its report", func(s *spec.Status) bool { return s.State == spec.Failed && s.StructuredErrorMsg != nil })
		if n > 3 {
			t.Errorf("got %d requests for an app that has ended, want n <= 3", n)
		}
	})
}
