package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// diagnose runs the doctor and returns a function that finds a check by its name.
func diagnose(t *testing.T, kubeconfig string, cfg backend.Config) func(name string) backend.Check {
	t.Helper()
	b, err := New(Config{
		Environ: []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}, Version: "test",
		Settings: func(context.Context, string) (backend.Config, error) { return cfg, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	all := b.Doctor(t.Context())
	return func(name string) backend.Check {
		t.Helper()
		for _, c := range all {
			if strings.Contains(c.Text+c.Fix, "\n") {
				t.Errorf("got %+v, want one line", c)
			}
			if c.Name == name {
				return c
			}
		}
		t.Errorf("got %+v, want a check %s", all, name)
		return backend.Check{}
	}
}

func wantCheck(t *testing.T, c backend.Check, level backend.Level, text string) {
	t.Helper()
	if c.Level != level || !strings.Contains(c.Text, text) {
		t.Errorf("got %+v, want %s with %q", c, level, text)
	}
}

// answers is an API server with fixed responses by path. A func(string) bool reports which
// rights the user has.
type answers map[string]any

func (a answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, ok := a[r.URL.Path]
	if allowed, isRights := answer.(func(string) bool); isRights {
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource, Subresource string }
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&review) // missing fields are denied
		of := review.Spec.ResourceAttributes
		answer = map[string]any{"status": map[string]any{"allowed": allowed(strings.Trim(of.Verb+" "+of.Resource+"/"+of.Subresource, "/"))}}
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "not found", "details": map[string]any{"name": filepath.Base(r.URL.Path), "kind": filepath.Base(filepath.Dir(r.URL.Path))}}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client sees a failure
}

// serve starts h as an API server and returns a kubeconfig for it.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	s.Config.SetKeepAlivesEnabled(false) // the doctor asks for much at once, and few files may be open
	t.Cleanup(s.Close)
	return kubeconfigFor(t, s.URL)
}

func kubeconfigFor(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"contexts":[{"name":"lab","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"x"}}],"current-context":"lab"}`, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func groups(names ...string) map[string]any {
	list := []map[string]any{{"name": "batch", "versions": []map[string]string{{"version": "v1"}}}}
	for _, n := range names {
		group, version, _ := strings.Cut(n, "/")
		list = append(list, map[string]any{"name": group, "versions": []map[string]string{{"version": version}}})
	}
	return map[string]any{"groups": list}
}

// healthy is a cluster with Volcano that grants all rights but the denied ones.
func healthy(denied ...string) answers {
	const queues = "/apis/scheduling.volcano.sh/v1beta1/queues/"
	return answers{
		"/version":                   map[string]string{"major": "1", "minor": "34", "gitVersion": "v1.34.4", "platform": "linux/amd64"},
		"/apis":                      groups("batch.volcano.sh/v1alpha1", "scheduling.volcano.sh/v1beta1", "jobset.x-k8s.io/v1alpha2"),
		"/api/v1/namespaces/default": map[string]any{},
		queues + "default":           map[string]any{"status": map[string]string{"state": "Open"}},
		queues + "shut":              map[string]any{"status": map[string]string{"state": "Closed"}},
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": func(what string) bool {
			return !slices.Contains(denied, what)
		},
	}
}

func TestDoctorOfConfigurations(t *testing.T) {
	t.Parallel()
	wantCheck(t, diagnose(t, "/no/such", nil)(kubeconfigCheck), backend.LevelFailure, "kubeconfig /no/such not found (set by $KUBECONFIG)")
	wantCheck(t, diagnose(t, "", nil)(kubeconfigCheck), backend.LevelFailure, "no kubeconfig")
	wantCheck(t, diagnose(t, kubeconfigFor(t, "http://127.0.0.1:1"), nil)(serverCheck), backend.LevelFailure, "nothing listens at its address")
	wantCheck(t, diagnose(t, kubeconfigFor(t, "http://127.0.0.1:1"), backend.Config{"context": "no"})(kubeconfigCheck), backend.LevelFailure, `has no context "no": it has lab`)
	refusing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	wantCheck(t, diagnose(t, serve(t, refusing), nil)(serverCheck), backend.LevelFailure, "does not accept the credentials of user u")
}

func TestDoctorOfClusters(t *testing.T) {
	t.Parallel()
	all := diagnose(t, serve(t, healthy()), nil)
	for name, text := range map[string]string{
		kubeconfigCheck: "context lab, server http://127.0.0.1:", serverCheck: "Kubernetes v1.34.4", skewCheck: "the server is 1.34, torchx",
		gangCheck: "Volcano (gang=volcano), JobSet (gang=jobset), and plain Jobs", namespaceCheck: "default, ", queueCheck: "default, ", rightsCheck: "all rights that apps with gang=volcano need",
		admissionCheck: "--kube-api-qps=2000",
	} {
		wantCheck(t, all(name), backend.LevelOK, text)
	}
	all = diagnose(t, serve(t, healthy()), backend.Config{"namespace": "nosuch", "queue": "nosuch"})
	wantCheck(t, all(namespaceCheck), backend.LevelFailure, "nosuch")
	wantCheck(t, all(queueCheck), backend.LevelFailure, "Volcano has no queue nosuch")
	all = diagnose(t, serve(t, healthy()), backend.Config{"queue": "shut"})
	wantCheck(t, all(queueCheck), backend.LevelFailure, "queue shut is Closed")

	cluster := healthy("create jobs", "get pods/log", "list nodes")
	all = diagnose(t, serve(t, cluster), nil)
	wantCheck(t, all(rightsCheck), backend.LevelFailure, "in namespace default you may not create jobs.batch.volcano.sh; get pods/log; list nodes")
	if role := all(rightsCheck).Manifest; !strings.Contains(role, "kind: Role\n") || !strings.Contains(role, "resources: [pods/log]\n  verbs: [get]\n") || !strings.Contains(role, "kind: ClusterRole\n") {
		t.Errorf("got Role %q, want all rights of apps, and a ClusterRole", role)
	}
	cluster = healthy("patch services")
	wantCheck(t, diagnose(t, serve(t, cluster), nil)(rightsCheck), backend.LevelOK, "gang=volcano")
	all = diagnose(t, serve(t, cluster), backend.Config{"gang": "job"})
	wantCheck(t, all(rightsCheck), backend.LevelFailure, "you may not patch services")
	cluster["/apis/apps/v1/namespaces/volcano-system/deployments/volcano-admission"] = json.RawMessage(`{"spec":{"template":{"spec":{"containers":[{"args":["--kube-api-qps=200"]}]}}}}`)
	wantCheck(t, diagnose(t, serve(t, cluster), nil)(admissionCheck), backend.LevelWarning, "about 200 pods a second")
	// Apps run, and end by the counts of their controllers, without the right to read their pods.
	wantCheck(t, diagnose(t, serve(t, healthy("get pods", "list pods", "get pods/log")), nil)(rightsCheck), backend.LevelWarning, "you may not get, list pods; get pods/log")
	wantCheck(t, diagnose(t, serve(t, healthy("list nodes", "list events")), nil)(rightsCheck), backend.LevelWarning, "you may not list nodes; list events")

	all = diagnose(t, serve(t, healthy()), backend.Config{"gang": "jobset", "kueue_queue": "team"})
	wantCheck(t, all(queueCheck), backend.LevelFailure, "has no Kueue, which kueue_queue=team needs")
	cluster = healthy()
	const kueue = "/apis/kueue.x-k8s.io/v1beta2/"
	cluster["/apis"] = groups("jobset.x-k8s.io/v1alpha2", "kueue.x-k8s.io/v1beta2")
	cluster[kueue+"namespaces/default/localqueues/team"] = map[string]any{}
	cluster[kueue+"namespaces/default/localqueues/held"] = json.RawMessage(`{"status":{"conditions":[{"type":"Active","status":"False","message":"LocalQueue is stopped"}]}}`)
	cluster[kueue+"namespaces/default/localqueues"] = json.RawMessage(`{"items":[{"metadata":{"name":"team"}}]}`)
	wantCheck(t, diagnose(t, serve(t, cluster), backend.Config{"kueue_queue": "team"})(queueCheck), backend.LevelOK, "Kueue queue team")
	wantCheck(t, diagnose(t, serve(t, cluster), backend.Config{"kueue_queue": "nope"})(queueCheck), backend.LevelFailure, "namespace default has no Kueue queue nope: choose another by -cfg kueue_queue=NAME (it has team)")
	wantCheck(t, diagnose(t, serve(t, cluster), backend.Config{"kueue_queue": "held"})(queueCheck), backend.LevelWarning, "Kueue queue held admits nothing now (LocalQueue is stopped)")
	wantCheck(t, diagnose(t, serve(t, cluster), backend.Config{"kueue_queue": "team", "kueue_priority": "nope"})(queueCheck), backend.LevelFailure, "has no Kueue priority class nope")
	all = diagnose(t, serve(t, cluster), backend.Config{"gang": "volcano"})
	wantCheck(t, all(gangCheck), backend.LevelFailure, "the cluster has no Volcano, which gang=volcano needs")

	cluster = healthy()
	cluster["/apis"] = groups()
	cluster["/api/v1/namespaces/default"] = map[string]any{"metadata": map[string]string{"deletionTimestamp": "2026-01-01T00:00:00Z"}}
	all = diagnose(t, serve(t, cluster), nil)
	wantCheck(t, all(gangCheck), backend.LevelWarning, "neither Volcano nor JobSet")
	wantCheck(t, all(namespaceCheck), backend.LevelFailure, "is being deleted")
	wantCheck(t, all(queueCheck), backend.LevelOK, "not used without Volcano")
}

// TestNamespace: apps run in the namespace of the context unless the options name another one.
func TestNamespace(t *testing.T) {
	t.Parallel()
	file := kubeconfigFor(t, "http://127.0.0.1:1")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"cluster":"c",`, `"cluster":"c","namespace":"team",`, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for kubeconfig, want := range map[string]string{file: "team:", "/no/such": "default:"} {
		b := must(New(Config{Environ: []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}}))
		role := spec.NewRole("r", "i")
		role.Entrypoint = "true"
		in := backend.PlanInput{ID: "a-1", App: &spec.App{Name: "a", Roles: []spec.Role{role}}, Cwd: "/"}
		p, err := b.Plan(t.Context(), in)
		if err != nil || !strings.HasPrefix(p.ID, want) || p.Cfg["namespace"] != strings.TrimSuffix(want, ":") {
			t.Errorf("got %+v, %v, want an id in namespace %s", p, err, want)
		}
		in.Cfg = backend.Config{"namespace": "own"}
		if p, err = b.Plan(t.Context(), in); err != nil || !strings.HasPrefix(p.ID, "own:") {
			t.Errorf("got %+v, %v, want the given namespace", p, err)
		}
	}
}

func TestSkew(t *testing.T) {
	t.Parallel()
	wantCheck(t, skew("1", "34+"), backend.LevelOK, "the server is 1.34")
	wantCheck(t, skew("1", "28"), backend.LevelWarning, "before 1.29")
	wantCheck(t, skew("", ""), backend.LevelWarning, "unknown version")
}

// TestDoctorOfRealCluster checks a real cluster, as users with all, few and no rights.
func TestDoctorOfRealCluster(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Need(t)
	namespace := cluster.Namespace(t)
	cfg := backend.Config{"namespace": namespace}
	all := diagnose(t, cluster.Kubeconfig, cfg)
	for _, name := range []string{serverCheck, skewCheck, gangCheck, namespaceCheck, queueCheck, rightsCheck} {
		wantCheck(t, all(name), backend.LevelOK, "")
	}
	all = diagnose(t, cluster.User(t, namespace, `{apiGroups: [batch, batch.volcano.sh, bus.volcano.sh, jobset.x-k8s.io], resources: ["*"], verbs: ["*"]}`), cfg)
	wantCheck(t, all(namespaceCheck), backend.LevelOK, "which you may not read")
	wantCheck(t, all(rightsCheck), backend.LevelWarning, "you may not get, list, watch, delete pods; get pods/log; create services; list podgroups")
	stranger := cluster.Write(t, func(_ *api.Cluster, user *api.AuthInfo, _ *api.Context) { *user = api.AuthInfo{Token: "expired"} })
	wantCheck(t, diagnose(t, stranger, cfg)(serverCheck), backend.LevelFailure, "does not accept the credentials")
	all = diagnose(t, cluster.Kubeconfig, backend.Config{"namespace": "no-such", "queue": "no-such"})
	wantCheck(t, all(namespaceCheck), backend.LevelFailure, "has no namespace no-such")
	wantCheck(t, all(queueCheck), backend.LevelFailure, "no queue no-such")
}

// TestDoctorOfAdmission: doctor reads the rate of Volcano's webhook from its Deployment.
func TestDoctorOfAdmission(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Need(t)
	cluster.Create(t, admission.namespace, fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {
 replicas: 0, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {
  containers: [{name: admission, image: none, args: ["--enabled-admission=/jobs/mutate", "--kube-api-qps=200"]}]}}}}`, admission.name))
	all := diagnose(t, cluster.Kubeconfig, backend.Config{"namespace": cluster.Namespace(t), "gang": "volcano"})
	wantCheck(t, all(admissionCheck), backend.LevelWarning, "admits about 200 pods a second")
	if fix := all(admissionCheck).Fix; !strings.Contains(fix, "--kube-api-qps=2000") {
		t.Errorf("got fix %q, want the flag of the webhook", fix)
	}
}
