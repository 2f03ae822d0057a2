// Package clustertest gives tests a real Kubernetes cluster: the one of $KUBECONFIG, such as
// that of `make e2e-k8s` (test/cluster). Each test gets its own namespace. Without
// TORCHX_REQUIRE=kubernetes tests skip, so that `go test ./...` never uses a developer's
// cluster.
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

// Image is the image on the test cluster's node: busybox with all its applets, and printenv.
// The node can pull other images only from a test's registry, see Registry.
const Image = "localhost/busybox:test"

// waitTime bounds the wait for changes that usually take less than two seconds.
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

// Open returns the cluster of a kubeconfig, after a first request to it.
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
		t.Skip("no Kubernetes cluster: TORCHX_REQUIRE=kubernetes uses that of KUBECONFIG, and `make e2e-k8s` starts one")
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("no Kubernetes cluster, KUBECONFIG is not set: `make e2e-k8s` starts a cluster and sets it")
	}
	c, err := Open(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// limited returns a context for requests, which usually take a second or two.
func limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), waitTime)
}

// Namespace creates a namespace that is deleted after the test with all its objects.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t-%08x", rand.Uint32())
	c.Create(t, "", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
	// The server refuses pods until the namespace has its default service account.
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
func (c *Cluster) Eventually(
	t testing.TB, what string, ok func(ctx context.Context) (bool, error),
) {
	t.Helper()
	ctx, cancel := limited()
	defer cancel()
	for {
		done, err := ok(ctx)
		if done {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: not reached within %v (%v)", what, waitTime, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Pods returns the pods of a namespace that match a label selector.
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

// Ensure is Create for objects without a namespace. It keeps existing ones.
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
		created, err := to.Create(ctx, o, metav1.CreateOptions{})
		if shared && apierrors.IsAlreadyExists(err) {
			continue
		}
		if err != nil {
			t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
		}
		t.Cleanup(func() {
			ctx, cancel := limited()
			defer cancel()
			err := to.Delete(ctx, created.GetName(),
				metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("delete %s %s: %v", o.GetKind(), created.GetName(), err)
			}
		})
	}
}

// Opened waits until a Volcano queue is open.
func (c *Cluster) Opened(t testing.TB, queue string) {
	t.Helper()
	c.Eventually(t, "queue "+queue+" is open", func(ctx context.Context) (bool, error) {
		q, err := c.Of("", "scheduling.volcano.sh/v1beta1", "Queue").Get(ctx, queue,
			metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		state, _, err := unstructured.NestedString(q.Object, "status", "state")
		return state == "Open", err
	})
}

// Devices makes every node report count devices that do not exist.
func (c *Cluster) Devices(t testing.TB, name string, count int) {
	t.Helper()
	ctx, cancel := limited()
	defer cancel()
	nodes := c.Of("", "v1", "Node")
	all, err := nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Set both: the kubelet updates allocatable only ten seconds after capacity.
	patch := fmt.Sprintf(`{"status":{"capacity":{%[1]q:"%[2]d"},"allocatable":{%[1]q:"%[2]d"}}}`, name, count)
	for _, n := range all.Items {
		if _, err := nodes.Patch(ctx, n.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}

// Write writes a changed copy of the cluster's kubeconfig, and returns its path.
func (c *Cluster) Write(
	t testing.TB, change func(*api.Cluster, *api.AuthInfo, *api.Context),
) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	c.Rewrite(t, file, change)
	return file
}

// Rewrite is Write to a file that may exist.
func (c *Cluster) Rewrite(
	t testing.TB, file string, change func(*api.Cluster, *api.AuthInfo, *api.Context),
) {
	t.Helper()
	if err := c.write(file, change); err != nil {
		t.Fatal(err)
	}
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
