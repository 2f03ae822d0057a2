package manifest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"torchx/runtime/backend"
	"torchx/test/clustertest"
)

// TestAccepted: a real API server with the webhooks of Volcano and JobSet accepts the objects
// of the plans that TestRecordings compares, in every form, and their pods.
func TestAccepted(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Need(t)
	files, err := filepath.Glob("testdata/dryrun/*.kubernetes.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d recordings (%v), want no error and len(files) != 0", len(files), err)
	}
	namespace := cluster.Namespace(t)
	cluster.Create(t, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa1}}`)
	cluster.Ensure(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q1}, spec: {weight: 1}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: pc1}, value: 1000}`)
	cluster.Opened(t, "q1")
	for _, file := range files {
		for _, gang := range Forms {
			t.Run(filepath.Base(file)+"/"+string(gang), func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var r recording
				decode(t, data, &r)
				if r.Request == nil || r.Name == "custom_overlay_ops" { // refused without a cluster
					return
				}
				r.accepted(t, cluster, namespace, gang)
			})
		}
	}
}

func (r *recording) accepted(t *testing.T, cluster *clustertest.Cluster, namespace string, gang Form) {
	r.Cfg["namespace"], r.Cfg["gang"] = namespace, string(gang)
	cfg, _, err := backend.Resolve(Planner{}.Options(), backend.JSONLayer(r.Cfg, "cfg"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Planner{Version: "0.8.0dev0"}.Plan(t.Context(), backend.PlanInput{ID: r.App.Name + "-bzx310r0jf6nh", App: r.App, Cfg: cfg, Cwd: "/cwd"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range plan.Request.(*Request).Objects {
		dryCreate(t, cluster, o)
		for i, p := range PodSets(o) {
			pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: p.ObjectMeta, Spec: p.Spec}
			pod.GenerateName, pod.Namespace = "p-", namespace
			if pod.Spec.Priority != nil {
				continue // valid in a job, but the server refuses it in a pod
			}
			t.Logf("pods %d of %s", i, o.Meta().Name)
			dryCreate(t, cluster, pod)
		}
	}
}

// dryCreate has the server check the creation of an object.
func dryCreate(t *testing.T, cluster *clustertest.Cluster, object any) {
	t.Helper()
	var o unstructured.Unstructured
	decode(t, asJSON(t, object), &o.Object)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := cluster.Of(o.GetNamespace(), o.GetAPIVersion(), o.GetKind()).Create(ctx, &o, metav1.CreateOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		t.Errorf("%s %s: %v\n%s", o.GetKind(), o.GetName(), err, asJSON(t, object))
	}
}
