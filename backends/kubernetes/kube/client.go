// Package kube talks to a Kubernetes cluster. Find locates it by the user's kubeconfig,
// Access.Open returns a Client that reads and writes objects, a Mirror keeps a copy of
// objects up to date by watches, and Explain turns every failure into one line. Labels and
// annotations (label.go) identify the objects of an app.
//
// Objects are sent as JSON through client-go's REST client. Its clientset would link the
// types of all API groups: 7 ms at the start of every command and 20 MB of binary. Its
// dynamic client would decode every object twice; see CONTRIBUTING.md for measurements.
package kube

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	// dialTime bounds the wait for a connection: a cluster behind a VPN that is off never
	// responds.
	dialTime = 10 * time.Second
	// callTime bounds one request that is not a stream.
	callTime = 30 * time.Second
	// noLimit sends requests when they are made: the server limits them, and more fairly. With
	// the limit of kubectl, 50 a second, the last lines of 1,000 pods of a Volcano Job took 14 s
	// instead of 2.
	noLimit = -1
	// pageSize is the number of objects per request of a list, as in kubectl.
	pageSize = 500
)

// Config configures a client.
type Config struct {
	UserAgent string
	// Warn receives the server's warnings, one line each; nil drops them.
	Warn func(line string)
	// Renew finds the access again after its files have changed; nil: the client keeps the first one.
	Renew func() (*Access, error)
}

// Client talks to one cluster. It may be used by several goroutines.
type Client struct {
	*Access // when the client was opened
	renewal
}

// Open returns a client, without contacting the server. Errors: backend.ErrUnavailable.
func (a *Access) Open(c Config) (*Client, error) {
	first, err := a.connect(c)
	if err != nil {
		return nil, err
	}
	client := &Client{Access: a, renewal: renewal{with: c}}
	client.now.Store(first)
	return client, nil
}

// connection reaches a cluster by one access.
type connection struct {
	*Access
	http *http.Client
	rest rest.Interface
}

func (a *Access) connect(c Config) (*connection, error) {
	config := rest.CopyConfig(a.config)
	config.UserAgent = c.UserAgent
	config.QPS = noLimit
	config.Timeout = 0 // it would also end streams; call sets a timeout
	config.Dial = (&net.Dialer{Timeout: dialTime, KeepAlive: callTime}).DialContext
	config.WarningHandler = warnings(c.Warn)
	config.GroupVersion = &schema.GroupVersion{}
	// The scheme only needs the type of errors.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, a.explain(err)
	}
	r, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, a.explain(err)
	}
	return &connection{Access: a, http: client, rest: r}, nil
}

type warnings func(line string)

// HandleWarningHeader passes on a warning of the server, which uses only the code 299.
func (w warnings) HandleWarningHeader(code int, _, text string) {
	if w != nil && code == 299 && text != "" {
		w(text)
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.now.Load().http.CloseIdleConnections() }

// quiet discards client-go's log output.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

// call sends a request and decodes the response into out, which may be nil.
func (c *Client) call(ctx context.Context, r *rest.Request, out any) error {
	ctx, cancel := context.WithTimeout(quiet(ctx), callTime)
	defer cancel()
	result := r.Do(ctx)
	if err := result.Error(); err != nil {
		return c.Explain(err)
	}
	raw, err := result.Raw()
	if err != nil || out == nil {
		return c.Explain(err)
	}
	return c.Explain(json.Unmarshal(raw, out))
}

// Get reads one object. Errors: those of Explain.
func (c *Client) Get(ctx context.Context, r Resource, namespace, name string, out any) error {
	return c.call(ctx, c.rest().Get().AbsPath(r.path(namespace, name)...), out)
}

// GetMetadata checks that an object exists, without reading its contents. Errors: those of Explain.
func (c *Client) GetMetadata(ctx context.Context, r Resource, namespace, name string) error {
	const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	return c.call(ctx, c.rest().Get().AbsPath(r.path(namespace, name)...).SetHeader("Accept", metadataOnly), nil)
}

// GetPath reads a path of the server, such as /apis. Errors: those of Explain.
func (c *Client) GetPath(ctx context.Context, path string, out any) error {
	return c.call(ctx, c.rest().Get().AbsPath(path), out)
}

// send sends a request with a JSON body.
func (c *Client) send(ctx context.Context, q *rest.Request, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.call(ctx, q.Body(body), out)
}

// Create creates an object; with dry, the server only checks it. out, if not nil, receives
// the created object. Errors: those of Explain.
func (c *Client) Create(
	ctx context.Context, r Resource, namespace string, in any, dry bool, out any,
) error {
	q := c.rest().Post().AbsPath(r.path(namespace, "")...).SetHeader("Content-Type",
		runtime.ContentTypeJSON)
	if dry {
		q = q.Param("dryRun", metav1.DryRunAll).Param("fieldValidation",
			metav1.FieldValidationStrict)
	}
	return c.send(ctx, q, in, out)
}

// Patch changes an object by a JSON merge patch (RFC 7386), which custom resources also
// support; sub is a subresource such as "status", or "". Errors: those of Explain.
func (c *Client) Patch(
	ctx context.Context, r Resource, namespace, name, sub string, patch any,
) error {
	path := r.path(namespace, name)
	if sub != "" {
		path = append(path, sub)
	}
	return c.send(ctx, c.rest().Patch(types.MergePatchType).AbsPath(path...), patch, nil)
}

// Delete deletes an object; in the background the server deletes the objects it owns. If uid
// is not empty, Delete deletes only the object with that UID. Errors: those of Explain.
func (c *Client) Delete(
	ctx context.Context, r Resource, namespace, name string, uid types.UID, grace *int64,
) error {
	o := metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: new(metav1.DeletePropagationBackground), GracePeriodSeconds: grace,
	}
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return c.send(ctx, c.rest().Delete().AbsPath(r.path(namespace, name)...).SetHeader("Content-Type", runtime.ContentTypeJSON), o, nil)
}

// Stream opens an endless response, such as a pod's log, until ctx is done. Any number of
// streams may be open: when a connection is full, the client opens another one. Errors: those of
// Explain.
func (c *Client) Stream(
	ctx context.Context, r Resource, namespace, name, sub string, params map[string]string,
) (io.ReadCloser, error) {
	q := c.rest().Get().AbsPath(append(r.path(namespace, name), sub)...)
	for k, v := range params {
		q = q.Param(k, v)
	}
	body, err := q.Stream(quiet(ctx))
	return body, c.Explain(err)
}

// Groups maps the API groups of a server to their versions.
type Groups map[string][]string

// Groups returns the installed API groups, in one request. Errors: those of Explain.
func (c *Client) Groups(ctx context.Context) (Groups, error) {
	list := metav1.APIGroupList{}
	if err := c.GetPath(ctx, "/apis", &list); err != nil {
		return nil, err
	}
	groups := Groups{}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			groups[g.Name] = append(groups[g.Name], v.Version)
		}
	}
	return groups, nil
}

// Has reports whether the server has the group of a resource in its version.
func (g Groups) Has(r Resource) bool {
	return r.Group == "" || slices.Contains(g[r.Group], r.Version)
}

// Version returns the server's version. Errors: those of Explain.
func (c *Client) Version(ctx context.Context) (version.Info, error) {
	info := version.Info{}
	err := c.GetPath(ctx, "/version", &info)
	return info, err
}

// Sleep waits for d, or until ctx is done, and returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// slim drops the fields of an object of a list or watch that torchx never reads: of 5,000 pods,
// they take most of the memory.
func slim(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	pod.ManagedFields, pod.Finalizers = nil, nil
	pod.Status.PodIPs, pod.Status.HostIPs = nil, nil
	pod.OwnerReferences = nil
	pod.Spec.Volumes, pod.Spec.Tolerations = nil, nil
	pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = nil, nil, nil
	pod.Spec.SecurityContext, pod.Spec.ImagePullSecrets = nil, nil
	killed := false
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			s := &list[i]
			s.AllocatedResources, s.AllocatedResourcesStatus, s.Resources, s.VolumeMounts = nil, nil, nil, nil
			killed = killed || outOfMemory(s.State) || outOfMemory(s.LastTerminationState)
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts = nil, nil, nil, nil, nil
			c.Resources.Requests = nil
			if !killed { // otherwise the limit explains it
				c.Resources.Limits = nil
			}
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle, c.SecurityContext = nil, nil, nil, nil, nil
		}
	}
}

// outOfMemory reports whether the kernel killed a container.
func outOfMemory(s corev1.ContainerState) bool {
	return s.Terminated != nil && s.Terminated.Reason == "OOMKilled"
}
