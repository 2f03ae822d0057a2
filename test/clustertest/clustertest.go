// Package clustertest gives tests a real Kubernetes cluster: the one that $KUBECONFIG
// names, such as that of `make e2e-k8s` (test/cluster). Each test gets a namespace of
// its own. A cluster is touched only with TORCHX_REQUIRE=kubernetes, so that
// `go test ./...` never runs anything on somebody's own.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Image is on the test cluster's node: busybox with all its applets, and printenv.
// Nothing can be pulled there but from a registry of the test's own, see Registry.
const Image = "localhost/busybox:test"

// waitTime bounds the wait for what the cluster does within a second or two.
const waitTime = 3 * time.Minute

// Cluster is a cluster that tests can use.
type Cluster struct {
	Kubeconfig string // file
	Config     *rest.Config
	Client     dynamic.Interface
}

// MissingError says why there is no cluster; tests skip then, unless TORCHX_REQUIRE
// has "kubernetes".
type MissingError struct{ Err error }

func (m *MissingError) Error() string { return "no Kubernetes cluster: " + m.Err.Error() }

// Unwrap returns the cause.
func (m *MissingError) Unwrap() error { return m.Err }

// Required reports whether a missing cluster is a failure.
func Required() bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), func(part string) bool {
		return strings.TrimSpace(part) == "kubernetes"
	})
}

// Get returns the cluster of $KUBECONFIG.
// Errors: *MissingError, also where TORCHX_REQUIRE does not have kubernetes.
func Get() (*Cluster, error) {
	if !Required() {
		return nil, &MissingError{errors.New("TORCHX_REQUIRE=kubernetes uses the one of KUBECONFIG; `make e2e-k8s` starts one")}
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	if kubeconfig == "" {
		return nil, &MissingError{errors.New("KUBECONFIG is not set: `make e2e-k8s` starts a cluster and sets it")}
	}
	return Open(kubeconfig)
}

// Open returns the cluster of a kubeconfig. Errors: *MissingError.
func Open(kubeconfig string) (*Cluster, error) {
	c := &Cluster{Kubeconfig: kubeconfig}
	var err error
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return nil, &MissingError{err}
	}
	c.Config.QPS, c.Config.Burst = 200, 400
	if c.Client, err = dynamic.NewForConfig(c.Config); err != nil {
		return nil, &MissingError{err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	if _, err := c.Client.Resource(namespaces).Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
		return nil, &MissingError{err}
	}
	return c, nil
}

// Need returns the cluster; without one the test is skipped, or fails when
// TORCHX_REQUIRE has kubernetes.
func Need(t testing.TB) *Cluster {
	t.Helper()
	c, err := Get()
	if err == nil {
		return c
	}
	if Required() {
		t.Fatal(err)
	}
	t.Skip(err)
	return nil
}

// Resources that tests look at.
var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	pods            = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Namespace makes a namespace that is deleted after the test, with all that is in it.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t-%08x", rand.Uint32())
	c.Create(t, "", fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name))
	// Pods are refused until the controllers have made the namespace's account.
	c.Eventually(t, "account of namespace "+name, func(ctx context.Context) (bool, error) {
		_, err := c.Client.Resource(serviceAccounts).Namespace(name).Get(ctx, "default", metav1.GetOptions{})
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
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
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
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	list, err := c.Client.Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
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

// Of returns the objects of a type, such as "batch.volcano.sh/v1alpha1 Job", in a namespace.
func (c *Cluster) Of(namespace, apiVersion, kind string) dynamic.ResourceInterface {
	r := c.Client.Resource(resource(apiVersion, kind))
	if namespace == "" {
		return r
	}
	return r.Namespace(namespace)
}

// resource is the plural of a kind, as far as tests need it.
func resource(apiVersion, kind string) schema.GroupVersionResource {
	gv, _ := schema.ParseGroupVersion(apiVersion)
	name := strings.ToLower(kind)
	if strings.HasSuffix(name, "s") {
		name += "e"
	}
	return gv.WithResource(name + "s")
}

// Create makes objects, YAML documents, that are deleted after the test; namespace is
// "" for those that have none.
func (c *Cluster) Create(t testing.TB, namespace, text string) {
	t.Helper()
	c.create(t, namespace, text, false)
}

// Ensure is Create for objects without a namespace that may be there already: these stay.
func (c *Cluster) Ensure(t testing.TB, text string) {
	t.Helper()
	c.create(t, "", text, true)
}

func (c *Cluster) create(t testing.TB, namespace, text string, shared bool) {
	t.Helper()
	for _, doc := range strings.Split(text, "\n---\n") {
		o := parse(t, doc)
		ctx, cancel := context.WithTimeout(context.Background(), waitTime)
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
			ctx, cancel := context.WithTimeout(context.Background(), waitTime)
			defer cancel()
			policy := metav1.DeletePropagationBackground
			err := to.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		})
	}
}

// Opened waits until a queue of Volcano takes jobs.
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

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// Devices has every node say that it has so many of a device, which is not there.
func (c *Cluster) Devices(t testing.TB, name string, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	nodes := c.Of("", "v1", "Node")
	all, err := nodes.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Both: what can be allocated would follow the capacity ten seconds later.
	patch := fmt.Sprintf(`{"status":{"capacity":{%[1]q:"%[2]d"},"allocatable":{%[1]q:"%[2]d"}}}`, name, count)
	for _, n := range all.Items {
		if _, err := nodes.Patch(ctx, n.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}
