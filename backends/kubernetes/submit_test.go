package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
)

// site is a namespace of a real cluster and a backend that uses it.
type site struct {
	*testing.T
	*clustertest.Cluster
	*Backend
	namespace string
}

func newSite(t *testing.T) *site {
	t.Helper()
	cluster := clustertest.Need(t)
	s := &site{T: t, Cluster: cluster, namespace: cluster.Namespace(t)}
	s.Backend = s.as(cluster.Kubeconfig)
	return s
}

// as returns a backend with another kubeconfig.
func (s *site) as(kubeconfig string) *Backend {
	s.Helper()
	b, err := New(Config{
		Home: s.TempDir(), Exe: "/no/such", Version: "test", Environ: []string{"KUBECONFIG=" + kubeconfig},
		Settings: func(context.Context, string) (backend.Config, error) {
			return backend.Config{"namespace": s.namespace}, nil
		},
	})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = b.Close() })
	return b
}

// plan plans an app with two roles that sleep.
func (s *site) plan(id string, cfg map[string]any) *backend.Plan {
	s.Helper()
	return s.planOf(id, sleepers(), cfg)
}

func (s *site) planOf(id string, app *spec.App, cfg map[string]any) *backend.Plan {
	s.Helper()
	given := map[string]any{"namespace": s.namespace}
	maps.Copy(given, cfg)
	resolved, _, err := backend.Resolve(s.Options(), backend.JSONLayer(given, "test"))
	if err != nil {
		s.Fatal(err)
	}
	p, err := s.Plan(s.Context(), backend.PlanInput{ID: id, App: app, Cfg: resolved, Cwd: "/"})
	if err != nil {
		s.Fatal(err)
	}
	p.Component, p.Args = "utils.sh", []string{"sleep", "600"}
	return p
}

func sleepers() *spec.App {
	app := &spec.App{Name: "pair", Metadata: map[string]any{"kubernetes": map[string]any{"spec": map[string]any{"terminationGracePeriodSeconds": 1}}}}
	for _, name := range []string{"lead", "worker"} {
		role := spec.NewRole(name, clustertest.Image)
		role.Entrypoint, role.Args = "sleep", []string{"600"}
		role.Env.Set("WHO", name+"-${replica_id}")
		role.Env.Set("PRICE", "$$5 $(NOT)")
		role.Resource = spec.Resource{CPU: 1, MemMB: 32}
		app.Roles = append(app.Roles, role)
	}
	app.Roles[1].NumReplicas = 2
	return app
}

// objects returns all objects that torchx created in the namespace, by kind and name.
func (s *site) objects() map[string]*unstructured.Unstructured {
	s.Helper()
	found := map[string]*unstructured.Unstructured{}
	for _, kind := range [][2]string{{"batch.volcano.sh/v1alpha1", "Job"}, {"jobset.x-k8s.io/v1alpha2", "JobSet"}, {"batch/v1", "Job"}, {"v1", "Service"}, {"v1", "ConfigMap"}} {
		list, err := s.Of(s.namespace, kind[0], kind[1]).List(s.Context(), metav1.ListOptions{LabelSelector: kube.LabelManagedBy + "=" + kube.Manager + ",!" + kube.LabelJobSetName})
		if err != nil {
			s.Fatal(err)
		}
		for i := range list.Items {
			found[list.Items[i].GetKind()+"/"+list.Items[i].GetName()] = &list.Items[i]
		}
	}
	return found
}

func (s *site) wantNothing(why string) {
	s.Helper()
	s.Eventually(s, why, func(context.Context) (bool, error) { return len(s.objects()) == 0, nil })
}

// TestSubmit: in every form, the cluster has the app and its record, and deletes all of it
// with its main object.
func TestSubmit(t *testing.T) {
	t.Parallel()
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			p := s.plan("pair-1", map[string]any{"gang": string(gang), "reserved_millicpu": 1000, "kubeconfig": s.Kubeconfig})
			if err := s.Submit(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			objects := s.objects()
			if want := map[manifest.Form]int{manifest.FormVolcano: 1, manifest.FormJobSet: 1, manifest.FormJob: 3}[gang]; len(objects) != want {
				t.Errorf("got %d objects: %v, want len(objects) == want", len(objects), objects)
			}
			s.wantOwned(objects, gang)
			s.wantRecord(p)
			if err := s.Submit(t.Context(), s.plan("pair-1", map[string]any{"gang": string(gang)})); !errors.Is(err, backend.ErrExists) {
				t.Errorf("second submission: got %v, want errors.Is(err, backend.ErrExists)", err)
			}
			if len(s.objects()) != len(objects) {
				t.Errorf("second submission: got %v, want the same objects", s.objects())
			}
			if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if left := s.objects(); len(left)+len(s.Pods(t, s.namespace, "")) != 0 && gang != manifest.FormJob {
				t.Errorf("got %v, want no objects and no pods", left)
			}
			s.wantNothing("deleted")
		})
	}
}

// wantOwned checks that deleting one object deletes all.
func (s *site) wantOwned(objects map[string]*unstructured.Unstructured, gang manifest.Form) {
	s.Helper()
	if gang != manifest.FormJob {
		return
	}
	service := objects["Service/pair-1"]
	if service == nil {
		s.Fatalf("got %v, want a service", objects)
	}
	if owners := service.GetOwnerReferences(); len(owners) != 2 {
		s.Errorf("got %v as owners of the service, want 2", owners)
	}
	for name, o := range objects {
		if owners := o.GetOwnerReferences(); o.GetKind() == "Job" && (len(owners) != 1 || owners[0].UID != service.GetUID()) {
			s.Errorf("got %v as owners of %s, want the service", owners, name)
		}
	}
}

// wantRecord checks that another machine can read the whole submission.
func (s *site) wantRecord(p *backend.Plan) {
	s.Helper()
	got, err := s.Submission(s.Context(), p.ID)
	if err != nil {
		s.Fatal(err)
	}
	want, _ := json.Marshal(p.App)
	if app, _ := json.Marshal(got.App); string(app) != string(want) || got.Partial || got.Component != p.Component || !slices.Equal(got.Args, p.Args) {
		s.Errorf("got %+v with app %s, want app %s", got, app, want)
	}
	if got.Cfg["gang"] != p.Cfg["gang"] || got.Cfg["kubeconfig"] != nil || got.Cfg["context"] != nil {
		s.Errorf(`options: %v, want got.Cfg["gang"] == p.Cfg["gang"] and got.Cfg["kubeconfig"] == nil and got.Cfg["context"] == nil`, got.Cfg)
	}
	apps, err := s.List(s.Context())
	if err != nil || len(apps) != 1 || apps[0].ID != p.ID || apps[0].Name != "pair" {
		s.Errorf(`got %v, %v, want no error and len(apps) == 1 and apps[0].ID == p.ID and apps[0].Name == "pair"`, apps, err)
	}
}

// TestDeletedJobs: deleting Jobs one by one, as ttl_seconds does, leaves the others running;
// the last one deletes the service.
func TestDeletedJobs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan("pair-2", map[string]any{"gang": "job", "reserved_millicpu": 1000})
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	foreground := metav1.DeletePropagationForeground
	for i, name := range []string{"pair-2-lead", "pair-2-worker"} {
		if err := s.Of(s.namespace, "batch/v1", "Job").Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
			t.Fatal(err)
		}
		s.Eventually(t, name+" is gone", func(context.Context) (bool, error) { return s.objects()["Job/"+name] == nil, nil })
		if left := s.objects(); i == 0 && len(left) != 2 {
			t.Errorf("got %v after the first deletion, want 2 objects", left)
		}
	}
	s.wantNothing("the last Job is deleted")
}

// TestRefusals: a refusal of the cluster is one line, and no object is created.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Create(t, s.namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {requests.cpu: "2"}}}`)
	s.quota("few", "requests.cpu")
	large, noImage, odd := sleepers(), sleepers(), sleepers()
	large.Roles[1].Resource.CPU = 3
	noImage.Roles[0].Image = spec.None
	odd.Metadata = map[string]any{"kubernetes": map[string]any{"spec": map[string]any{"hostname": "Not_A_Name"}}}
	for name, tt := range map[string]struct {
		app  *spec.App
		cfg  map[string]any
		want []string
	}{
		"namespace":       {sleepers(), map[string]any{"namespace": "no-such"}, []string{"no namespace no-such", "-cfg namespace="}},
		"queue":           {sleepers(), map[string]any{"gang": "volcano", "queue": "no-such"}, []string{"no Volcano queue no-such", "it has", "default"}},
		"priority class":  {sleepers(), map[string]any{"gang": "volcano", "priority_class": "no-such"}, []string{"no priority class no-such"}},
		"of pods":         {sleepers(), map[string]any{"gang": "job", "priority_class": "no-such"}, []string{"role lead", "no PriorityClass with name no-such"}},
		"service account": {sleepers(), map[string]any{"service_account": "no-such"}, []string{"role lead", `serviceaccount "no-such" not found`}},
		"quota":           {large, nil, []string{"role worker", "exceeded quota: few"}},
		"quota of all":    {sleepers(), map[string]any{"reserved_millicpu": 100}, []string{"together need requests.cpu 2.7", "quota few", "allows 2"}},
		"image":           {noImage, nil, []string{"container lead", "no image"}},
		"invalid":         {odd, map[string]any{"gang": "job"}, []string{"hostname", "Not_A_Name"}},
		"context":         {sleepers(), map[string]any{"context": "no-such"}, []string{`no context "no-such"`}},
		"kubeconfig":      {sleepers(), map[string]any{"kubeconfig": "/no/such"}, []string{"kubeconfig /no/such not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.Submit(t.Context(), s.planOf("pair-3", tt.app, tt.cfg))
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want an error of one line", err)
			}
			if start := (*backend.StartError)(nil); errors.As(err, &start) != (name != "kubeconfig" && name != "context") {
				t.Errorf("got %v of type StartError: %v, want the opposite", err, start != nil)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want %q in it", err, w)
				}
			}
		})
	}
	s.wantNothing("refused")
}

// TestFullQuota: an app that must wait until a quota is free is submitted with a warning.
func TestFullQuota(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.Create(t, s.namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few}, spec: {hard: {pods: "4"}}}`)
	s.quota("few", "pods")
	var warnings []string
	for i, want := range []int{0, 1} {
		p := s.plan(fmt.Sprintf("pair-1%d", i), map[string]any{"gang": "job", "reserved_millicpu": 1000})
		p.Progress = func(step backend.Step) {
			if step.Warning != "" {
				warnings = append(warnings, step.Warning)
			}
		}
		if err := s.Submit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if len(warnings) != want {
			t.Errorf("got warnings %q, want %d", warnings, want)
		}
		s.Eventually(t, "all pods that fit", func(context.Context) (bool, error) { return len(s.Pods(t, s.namespace, "")) == 3+i, nil })
	}
	want := "pods 3, but quota few of namespace " + s.namespace + " allows 4, of which 3 is in use"
	if len(warnings) == 1 && !strings.Contains(warnings[0], want) {
		t.Errorf("got %q, want %q in it", warnings[0], want)
	}
}

// quota waits until a quota is in force.
func (s *site) quota(name, resource string) {
	s.Helper()
	s.Eventually(s.T, "quota", func(ctx context.Context) (bool, error) {
		q, err := s.Of(s.namespace, "v1", "ResourceQuota").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		_, found, _ := unstructured.NestedString(q.Object, "status", "used", resource)
		return found, nil
	})
}

// TestDeleteAfterKilledSubmit: Delete removes the only object of a submission with gang=job
// that was killed.
func TestDeleteAfterKilledSubmit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan("pair-9", map[string]any{"gang": "job"})
	for _, o := range p.Request.(*manifest.Request).CreationOrder()[:1] {
		text, _ := json.Marshal(o)
		s.Create(t, s.namespace, string(text))
	}
	if s.objects()["Service/pair-9"] == nil {
		t.Fatalf(`got %v, want s.objects()["Service/pair-9"] != nil`, s.objects())
	}
	if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	s.wantNothing("deleted")
	if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("second Delete: got %v, want errors.Is(err, backend.ErrNotFound)", err)
	}
}

// TestAllOrNothing: a submission that fails after its first object leaves no objects.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, gang := range manifest.Forms {
		p := s.plan("pair-4", map[string]any{"gang": string(gang), "validate_spec": false, "reserved_millicpu": 1000})
		req := p.Request.(*manifest.Request)
		bad := &manifest.Foreign{}
		decode(t, []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "`+s.namespace+`"}, "data": {"k": 1}}`), bad)
		req.Objects = append(req.Objects, bad)
		if err := s.Submit(t.Context(), p); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf(`%s: got %v, want err != nil and !Contains(err.Error(), "\n")`, gang, err)
		}
		s.wantNothing(string(gang) + " is removed")
	}
}

// TestAddedObjects: objects that the user adds to a plan are created and deleted with the app.
func TestAddedObjects(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan("pair-5", map[string]any{"reserved_millicpu": 1000})
	more := &manifest.Foreign{}
	decode(t, []byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "`+s.namespace+`", "labels": {"app.kubernetes.io/managed-by": "torchx.pytorch.org"}}, "data": {"k": "v"}}`), more)
	p.Request.(*manifest.Request).Objects = append(p.Request.(*manifest.Request).Objects, more)
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if s.objects()["ConfigMap/c"] == nil {
		t.Errorf(`got %v, want s.objects()["ConfigMap/c"] != nil`, s.objects())
	}
	if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.wantNothing("deleted")
}

// TestLostResponse: if the connection breaks after the server has created an object, the
// submission succeeds and creates it once.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			b := s.as(s.losing(func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "" }))
			p := s.plan("pair-6", map[string]any{"gang": string(gang), "reserved_millicpu": 1000})
			if err := b.Submit(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if want := map[manifest.Form]int{manifest.FormVolcano: 1, manifest.FormJobSet: 1, manifest.FormJob: 3}[gang]; len(s.objects()) != want {
				t.Errorf("got %v, want len(s.objects()) == want", s.objects())
			}
		})
	}
}

// losing returns a kubeconfig of a proxy that forwards requests, but breaks the connection
// instead of responding to the first request of each path that lose selects.
func (s *site) losing(lose func(*http.Request) bool) string {
	s.Helper()
	to, err := url.Parse(s.Config.Host)
	if err != nil {
		s.Fatal(err)
	}
	transport, err := rest.TransportFor(s.Config)
	if err != nil {
		s.Fatal(err)
	}
	var lost sync.Map
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: transport}
	proxy.ModifyResponse = func(r *http.Response) error {
		if _, again := lost.LoadOrStore(r.Request.URL.Path, true); lose(r.Request) && !again {
			return errors.New("lost")
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(proxy)
	s.Cleanup(server.Close)
	return s.Write(s, func(c *api.Cluster, u *api.AuthInfo, _ *api.Context) {
		*c, *u = api.Cluster{Server: server.URL}, api.AuthInfo{}
	})
}

// TestAuto: gang=auto selects the form that supports the app's retries.
func TestAuto(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	app := sleepers()
	app.Roles[1].MaxRetries, app.Roles[1].RetryPolicy = 1, spec.RetryReplica
	p := s.planOf("pair-7", app, map[string]any{"reserved_millicpu": 1000})
	if len(p.Warnings) > 0 || len(p.DecidedAtSubmit) != 2 {
		t.Errorf("got warnings %q, undecided %q, want len(p.Warnings) == 0 and len(p.DecidedAtSubmit) == 2", p.Warnings, p.DecidedAtSubmit)
	}
	var warnings []string
	p.Progress = func(step backend.Step) { warnings = append(warnings, step.Warning) }
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if s.objects()["JobSet/pair-7"] == nil || len(warnings) > 0 {
		t.Errorf("got %v, warnings %q, want JobSet/pair-7 and no warnings", s.objects(), warnings)
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
