// Package clustertest gives tests a real Kubernetes cluster: that of $KUBECONFIG, such as
// `make e2e-k8s` starts (test/cluster). Each test gets a namespace of its own. Without
// TORCHX_REQUIRE=kubernetes tests skip, so that `go test ./...` never uses a developer's
// own cluster.
package clustertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Image is on the test cluster's node: busybox with all its applets, and printenv. Nothing
// else can be pulled there, except from a test's own registry, see Registry.
const Image = "localhost/busybox:test"

// waitTime bounds the wait for what the cluster usually does within two seconds.
const waitTime = 3 * time.Minute

// Cluster is a cluster that tests can use.
type Cluster struct {
	Kubeconfig string // file
	Config     *rest.Config
	Client     dynamic.Interface
}

// Required reports whether tests use a cluster and fail without one.
func Required() bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), func(part string) bool {
		return strings.TrimSpace(part) == "kubernetes"
	})
}

// Open returns the cluster of a kubeconfig that answers.
func Open(kubeconfig string) (c *Cluster, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("no Kubernetes cluster: %w", err)
		}
	}()
	c = &Cluster{Kubeconfig: kubeconfig}
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return nil, err
	}
	c.Config.QPS, c.Config.Burst = 200, 400
	if c.Client, err = dynamic.NewForConfig(c.Config); err != nil {
		return nil, err
	}
	ctx, cancel := limited()
	defer cancel()
	_, err = c.Of("", "v1", "Namespace").Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return c, err
}

// Need returns the cluster of $KUBECONFIG. It skips the test unless TORCHX_REQUIRE has
// kubernetes, and fails it if there is no cluster.
func Need(t testing.TB) *Cluster {
	t.Helper()
	if !Required() {
		t.Skip("no Kubernetes cluster: TORCHX_REQUIRE=kubernetes uses the one of KUBECONFIG; `make e2e-k8s` starts one")
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("no Kubernetes cluster: KUBECONFIG is not set: `make e2e-k8s` starts a cluster and sets it")
	}
	c, err := Open(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// limited returns a context for requests of about a second or two.
func limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), waitTime)
}

// Namespace creates a namespace that is deleted after the test with all its objects.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t-%08x", rand.Uint32())
	c.Create(t, "", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
	// Pods are refused until the namespace has its default account.
	c.Eventually(t, "account of namespace "+name, func(ctx context.Context) (bool, error) {
		_, err := c.Of(name, "v1", "ServiceAccount").Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	return name
}

// Eventually waits until ok is true.
func (c *Cluster) Eventually(t testing.TB, what string, ok func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := limited()
	defer cancel()
	for {
		done, err := ok(ctx)
		if done {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: it did not come to be within %v (%v)", what, waitTime, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Pods lists those of a namespace that a label selector finds.
func (c *Cluster) Pods(t testing.TB, namespace, selector string) []corev1.Pod {
	t.Helper()
	ctx, cancel := limited()
	defer cancel()
	list, err := c.Of(namespace, "v1", "Pod").List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	found := make([]corev1.Pod, len(list.Items))
	for i, item := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &found[i]); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// Of returns the objects of a kind in a namespace ("" for kinds without one).
func (c *Cluster) Of(namespace, apiVersion, kind string) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(apiVersion, kind))
	r := c.Client.Resource(plural)
	if namespace == "" {
		return r
	}
	return r.Namespace(namespace)
}

// Create creates objects from YAML documents and deletes them after the test; namespace is
// "" for kinds without one.
func (c *Cluster) Create(t testing.TB, namespace, text string) {
	t.Helper()
	c.create(t, namespace, text, false)
}

// Ensure is Create for objects without a namespace; those that exist already stay.
func (c *Cluster) Ensure(t testing.TB, text string) {
	t.Helper()
	c.create(t, "", text, true)
}

func (c *Cluster) create(t testing.TB, namespace, text string, shared bool) {
	t.Helper()
	for _, doc := range strings.Split(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			t.Fatalf("%v in %s", err, doc)
		}
		ctx, cancel := limited()
		defer cancel()
		to := c.Of(namespace, o.GetAPIVersion(), o.GetKind())
		_, err := to.Create(ctx, o, metav1.CreateOptions{})
		if shared && apierrors.IsAlreadyExists(err) {
			continue
		}
		if err != nil {
			t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
		}
		t.Cleanup(func() {
			ctx, cancel := limited()
			defer cancel()
			err := to.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		})
	}
}

// Opened waits until a Volcano queue takes jobs.
func (c *Cluster) Opened(t testing.TB, queue string) {
	t.Helper()
	c.Eventually(t, "queue "+queue+" is open", func(ctx context.Context) (bool, error) {
		q, err := c.Of("", "scheduling.volcano.sh/v1beta1", "Queue").Get(ctx, queue, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		state, _, err := unstructured.NestedString(q.Object, "status", "state")
		return state == "Open", err
	})
}

// Devices makes every node report count of a device, which does not exist.
func (c *Cluster) Devices(t testing.TB, name string, count int) {
	t.Helper()
	ctx, cancel := limited()
	defer cancel()
	nodes := c.Of("", "v1", "Node")
	all, err := nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Both, as the allocatable amount would follow the capacity only ten seconds later.
	patch := fmt.Sprintf(`{"status":{"capacity":{%[1]q:"%[2]d"},"allocatable":{%[1]q:"%[2]d"}}}`, name, count)
	for _, n := range all.Items {
		if _, err := nodes.Patch(ctx, n.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}

// User creates an account with the rules of a Role (in YAML's flow style, "" for none) in a
// namespace, and returns the file of its kubeconfig.
func (c *Cluster) User(t testing.TB, namespace, rules string) string {
	t.Helper()
	c.Create(t, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: user}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: user}, rules: [%s]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: user},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: user}, subjects: [{kind: ServiceAccount, name: user}]}`, rules))
	ctx, cancel := limited()
	defer cancel()
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{}}}
	request.SetName("user")
	response, err := c.Of(namespace, "v1", "ServiceAccount").Create(ctx, request, metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := unstructured.NestedString(response.Object, "status", "token")
	return c.Write(t, func(_ *api.Cluster, user *api.AuthInfo, context *api.Context) {
		*user = api.AuthInfo{Token: token}
		context.Namespace = namespace
	})
}

// Write writes a changed copy of the cluster's kubeconfig, and returns its file.
func (c *Cluster) Write(t testing.TB, change func(*api.Cluster, *api.AuthInfo, *api.Context)) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.write(file, change); err != nil {
		t.Fatal(err)
	}
	return file
}

func (c *Cluster) write(file string, change func(*api.Cluster, *api.AuthInfo, *api.Context)) error {
	all, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		return err
	}
	here := all.Contexts[all.CurrentContext]
	change(all.Clusters[here.Cluster], all.AuthInfos[here.AuthInfo], here)
	return clientcmd.WriteToFile(*all, file)
}
