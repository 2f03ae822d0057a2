package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestCancel: a canceled app ends, keeps its objects and spec, and stays canceled.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			p := s.plan("pair-1", map[string]any{"gang": string(gang), "reserved_millicpu": 1000})
			if err := s.Submit(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			for i, force := range []bool{false, true, false} {
				if err := s.Cancel(t.Context(), p.ID, backend.CancelOptions{Force: force, Reason: []string{"early stop", "", ""}[i]}); err != nil {
					t.Fatal(err)
				}
			}
			status, err := s.Wait(t.Context(), p.ID)
			if err != nil || status.State != spec.Cancelled || status.Msg != "early stop" {
				t.Fatalf("got %+v, %v, want no error, status.State == spec.Cancelled and the reason", status, err)
			}
			times := map[string]bool{}
			for name, o := range s.objects() {
				if o.GetKind() != "Service" {
					times[o.GetAnnotations()[kube.AnnotationCancelled]] = true
					if o.GetAnnotations()[kube.AnnotationCancelled] == "" {
						t.Errorf("%s has no annotation %s", name, kube.AnnotationCancelled)
					}
				}
			}
			if err := s.Cancel(t.Context(), p.ID, backend.CancelOptions{}); err != nil {
				t.Error(err)
			}
			for _, o := range s.objects() {
				if at := o.GetAnnotations()[kube.AnnotationCancelled]; o.GetKind() != "Service" && !times[at] {
					t.Errorf("got a new time of cancellation %s, want one of %v", at, times)
				}
			}
			if got, err := s.Submission(t.Context(), p.ID); err != nil || got.Partial {
				t.Errorf("got %+v, %v, want no error and !got.Partial", got, err)
			}
			if err := s.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.wantNothing("deleted")
		})
	}
}

// TestDeleteReadsNoLogs: logs that are about to be deleted are not read.
func TestDeleteReadsNoLogs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan("pair-1", map[string]any{"gang": "job", "reserved_millicpu": 1000})
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	s.Eventually(t, "a replica runs", func(ctx context.Context) (bool, error) {
		status, err := s.Describe(ctx, p.ID)
		return err == nil && status.State == spec.Running, err
	})
	proxy := s.Proxy(t)
	b := s.as(proxy.Kubeconfig)
	if err := b.Cancel(t.Context(), p.ID, backend.CancelOptions{Discard: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, request := range proxy.Requests() {
		if strings.Contains(request, "/log?") {
			t.Errorf("got %s, want no request for logs", request)
		}
	}
}

// TestUnknown: calls for an app that does not exist.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := manifest.AppID(s.namespace, "nope")
	if err := s.Cancel(t.Context(), id, backend.CancelOptions{Force: true}); err != nil {
		t.Errorf("cancel: %v", err)
	}
	_, described := s.Describe(t.Context(), id)
	_, submitted := s.Submission(t.Context(), id)
	for what, err := range map[string]error{
		"delete": s.Delete(t.Context(), id, backend.DeleteOptions{}), "describe": described, "submitted": submitted,
	} {
		if !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("%s: got %v, want errors.Is(err, backend.ErrNotFound)", what, err)
		}
	}
	if _, err := s.Describe(t.Context(), "nope"); err == nil || !strings.Contains(err.Error(), "kubernetes://torchx/default:nope") {
		t.Errorf(`an id without a namespace: %v, want err != nil and Contains(err.Error(), "kubernetes://torchx/default:nope")`, err)
	}
}

// TestTorchXJob: a job that TorchX submitted (a recorded request) is listed, described from
// its templates, canceled and deleted.
func TestTorchXJob(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	data, err := os.ReadFile("manifest/testdata/dryrun/custom_multirole.kubernetes.json")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		App     *spec.App `json:"appdef"`
		Request struct {
			Resource map[string]any `json:"resource"`
		} `json:"request"`
	}
	decode(t, data, &r)
	body := r.Request.Resource
	body["spec"].(map[string]any)["queue"] = "default"
	text, _ := json.Marshal(body) // JSON is YAML
	s.Create(t, s.namespace, string(text))
	name := body["metadata"].(map[string]any)["name"].(string)
	id := manifest.AppID(s.namespace, name)
	apps, err := s.List(t.Context())
	if err != nil || len(apps) != 1 || apps[0].ID != id || !apps[0].Foreign || apps[0].Name != r.App.Name {
		t.Fatalf("got %+v, %v, want no error and len(apps) == 1 and apps[0].ID == id and apps[0].Foreign and apps[0].Name == r.App.Name", apps, err)
	}
	got, err := s.Submission(t.Context(), id)
	if err != nil || !got.Partial || len(got.App.Roles) != len(r.App.Roles) {
		t.Fatalf("got %+v, %v, want no error and got.Partial and len(got.App.Roles) == len(r.App.Roles)", got, err)
	}
	for i := range r.App.Roles {
		was, is := &r.App.Roles[i], &got.App.Roles[i]
		if is.Name != was.Name || is.NumReplicas != was.NumReplicas || is.Image != was.Image ||
			is.Entrypoint != was.Entrypoint || len(is.Args) != len(was.Args) || is.Resource.CPU != was.Resource.CPU {
			t.Errorf("got %+v, want %+v", is, was)
		}
	}
	if err := errors.Join(s.Cancel(t.Context(), id, backend.CancelOptions{Force: true}), s.Delete(t.Context(), id, backend.DeleteOptions{})); err != nil {
		t.Error(err)
	}
}

// TestRebuild: an app without its annotation is rebuilt, except for the fields that only
// torchx knows.
func TestRebuild(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, gang := range manifest.Forms {
		p := s.plan("pair-"+string(gang), map[string]any{"gang": string(gang), "reserved_millicpu": 1000})
		if err := s.Submit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, kube.AnnotationApp)
		for _, o := range p.Request.(*manifest.Request).Objects {
			if o.Type().Kind == "Service" {
				continue
			}
			if _, err := s.Of(s.namespace, o.Type().APIVersion, o.Type().Kind).Patch(t.Context(), o.Meta().Name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Submission(t.Context(), p.ID)
		if err != nil || !got.Partial || got.App.Name != "pair" || len(got.App.Roles) != 2 {
			t.Fatalf(`got %+v, %v, want no error and got.Partial and got.App.Name == "pair" and len(got.App.Roles) == 2`, got, err)
		}
		for i, role := range got.App.Roles {
			want := p.App.Roles[i]
			who, _ := role.Env.Get("WHO")
			price, _ := role.Env.Get("PRICE")
			id := "${replica_id}"
			if gang == manifest.FormVolcano || want.NumReplicas == 1 {
				id = "0"
			}
			if role.Name != want.Name || role.NumReplicas != want.NumReplicas || role.Entrypoint != "sleep" || !slices.Equal(role.Args, want.Args) ||
				role.Resource.CPU != 1 || role.Resource.MemMB != 32 || who != want.Name+"-"+id || price != "$5 $(NOT)" {
				t.Errorf("%s: %+v", gang, role)
			}
		}
	}
}

// TestRights: rights in one namespace are enough to use it.
func TestRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as(s.User(t, s.namespace, `{apiGroups: [batch, batch.volcano.sh, jobset.x-k8s.io], resources: [jobs, jobsets], verbs: [get, list, create, delete, patch]},
{apiGroups: [""], resources: [pods, services], verbs: [get, list, watch, delete]},
{apiGroups: [bus.volcano.sh], resources: [commands], verbs: [create]}`))
	b.config.Settings = nil // list every namespace
	p := s.plan("pair-1", map[string]any{"gang": "volcano", "reserved_millicpu": 1000})
	if err := b.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if apps, err := b.List(t.Context()); err != nil || len(apps) != 1 {
		t.Errorf("got %v, %v, want no error and len(apps) == 1", apps, err)
	}
	if err := errors.Join(b.Cancel(t.Context(), p.ID, backend.CancelOptions{}), b.Delete(t.Context(), p.ID, backend.DeleteOptions{})); err != nil {
		t.Error(err)
	}
	err := b.Submit(t.Context(), s.plan("pair-2", map[string]any{"gang": "job"}))
	if err == nil || !strings.Contains(err.Error(), "may not create services in namespace "+s.namespace) {
		t.Errorf(`got %v, want err != nil and Contains(err.Error(), "may not create services in namespace "+s.namespace)`, err)
	}
	s.wantNothing("refused")
}

// TestMovedKubeconfig: an app is found again from another current context, and after its
// kubeconfig has moved.
func TestMovedKubeconfig(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	given := s.plan("pair-1", map[string]any{"gang": "jobset", "reserved_millicpu": 1000})
	cfg, err := s.ResolveTarget(given.Cfg)
	if err != nil || cfg["kubeconfig"] != s.Kubeconfig || cfg["context"] == nil {
		t.Fatalf(`got %v, %v, want no error and cfg["kubeconfig"] == s.Kubeconfig and cfg["context"] != nil`, cfg, err)
	}
	if err := s.Submit(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	elsewhere := s.as("/no/such")
	for _, kubeconfig := range []any{s.Kubeconfig, "/moved/away"} {
		cfg["kubeconfig"] = kubeconfig
		elsewhere.config.Settings = func(context.Context, string) (backend.Config, error) { return cfg, nil }
		if kubeconfig != s.Kubeconfig {
			elsewhere.config.Environ = []string{"KUBECONFIG=" + s.Write(t, func(*api.Cluster, *api.AuthInfo, *api.Context) {})}
		}
		if _, err := elsewhere.Describe(t.Context(), given.ID); err != nil {
			t.Errorf("%v: %v", kubeconfig, err)
		}
	}
}
