// Package kube talks to a Kubernetes cluster: it finds it by the user's kubeconfig,
// reads and writes objects, and says in one line why something does not work.
//
// Objects go as JSON through client-go's REST client. Its clientset would bring
// along the types of all API groups: 7 ms at the start of every command of torchx,
// and 20 MB of program.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

const (
	// dialTime bounds the wait for a connection: a cluster behind a VPN that is off
	// answers nothing at all.
	dialTime = 10 * time.Second
	// callTime bounds one request that is not a stream.
	callTime = 30 * time.Second
	// The limits of kubectl; the server has its own, which are fairer.
	queriesPerSecond = 50
	burst            = 300
	// pageSize is how many objects a list asks for at a time, as in kubectl.
	pageSize = 500
)

// Config is what a client needs beside the way to the cluster.
type Config struct {
	UserAgent string
	// Warn gets the server's own warnings, one line each; nil drops them.
	Warn func(line string)
}

// Client talks to one cluster. It may be used by several goroutines.
type Client struct {
	*Access
	http *http.Client
	rest rest.Interface
}

// Open returns a client; nothing is contacted yet. Errors: backends.ErrUnavailable.
func (a *Access) Open(c Config) (*Client, error) {
	config := rest.CopyConfig(a.config)
	config.UserAgent = c.UserAgent
	config.QPS, config.Burst = queriesPerSecond, burst
	config.Timeout = 0 // it would end streams too: calls have their own
	config.Dial = (&net.Dialer{Timeout: dialTime, KeepAlive: callTime}).DialContext
	config.WarningHandler = warnings(c.Warn)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = statusOnly()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, a.explain(err)
	}
	r, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, a.explain(err)
	}
	return &Client{Access: a, http: client, rest: r}, nil
}

// statusOnly knows no type but that of errors.
func statusOnly() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

type warnings func(line string)

// HandleWarningHeader passes on what the server says beside its answer; 299 is
// the only code that it uses.
func (w warnings) HandleWarningHeader(code int, _, text string) {
	if w != nil && code == 299 && text != "" {
		w(text)
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// quiet keeps client-go's own log off the user's screen.
func quiet(ctx context.Context) context.Context { return klog.NewContext(ctx, logr.Discard()) }

// call sends a request and decodes the answer into out, which may be nil.
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
	return c.call(ctx, c.rest.Get().AbsPath(r.path(namespace, name)...), out)
}

// GetPath reads what is at a path of the server, such as /apis. Errors: those of Explain.
func (c *Client) GetPath(ctx context.Context, path string, out any) error {
	return c.call(ctx, c.rest.Get().AbsPath(path), out)
}

// ListOptions select what is listed or watched.
type ListOptions struct {
	LabelSelector, FieldSelector string
	// Limit is how many objects come at a time; 0 is a size that suits. All come in the end.
	Limit int64
	// Whole asks for all objects at once, and Cached for what the server remembers: that
	// is cheap for it, and may be a moment old.
	Whole, Cached bool
}

// List is a list of objects and the version of the store that it shows.
type List[T any] struct {
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

// ListAll lists the objects of a namespace ("": of all), page by page. Errors: those of Explain.
func ListAll[T any](ctx context.Context, c *Client, r Resource, namespace string, o ListOptions) (*List[T], error) {
	if o.Limit == 0 {
		o.Limit = pageSize
	}
	all, from := &List[T]{}, ""
	for {
		page := List[T]{}
		q := c.rest.Get().AbsPath(r.path(namespace, "")...)
		q = o.on(q)
		switch {
		case o.Cached:
			q = q.Param("resourceVersion", "0")
		case !o.Whole:
			q = q.Param("limit", number(o.Limit))
		}
		if from != "" {
			q = q.Param("continue", from)
		}
		if err := c.call(ctx, q, &page); err != nil {
			return nil, err
		}
		all.ListMeta, all.Items = page.ListMeta, append(all.Items, page.Items...)
		if from = page.Continue; from == "" {
			return all, nil
		}
	}
}

func (o ListOptions) on(q *rest.Request) *rest.Request {
	if o.LabelSelector != "" {
		q = q.Param("labelSelector", o.LabelSelector)
	}
	if o.FieldSelector != "" {
		q = q.Param("fieldSelector", o.FieldSelector)
	}
	return q
}

// Create makes an object; with dry only so far that the server checks it. out, if
// not nil, gets what was made. Errors: those of Explain.
func (c *Client) Create(ctx context.Context, r Resource, namespace string, in any, dry bool, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	q := c.rest.Post().AbsPath(r.path(namespace, "")...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body)
	if dry {
		q = q.Param("dryRun", metav1.DryRunAll).Param("fieldValidation", metav1.FieldValidationStrict)
	}
	return c.call(ctx, q, out)
}

// Patch changes an object by a JSON merge patch (RFC 7386), which custom resources
// take too; sub is a subresource such as "status", or "". Errors: those of Explain.
func (c *Client) Patch(ctx context.Context, r Resource, namespace, name, sub string, patch any) error {
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	path := r.path(namespace, name)
	if sub != "" {
		path = append(path, sub)
	}
	return c.call(ctx, c.rest.Patch(types.MergePatchType).AbsPath(path...).Body(body), nil)
}

// Delete asks for the end of an object; the server deletes what it owns in the
// background. With uid only that very object is meant. Errors: those of Explain.
func (c *Client) Delete(ctx context.Context, r Resource, namespace, name string, uid types.UID, grace *int64) error {
	policy := metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: &policy, GracePeriodSeconds: grace,
	}
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	q := c.rest.Delete().AbsPath(r.path(namespace, name)...).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body)
	return c.call(ctx, q, nil)
}

// Stream opens an endless answer, such as a pod's log; it lives as long as ctx. There
// is no limit to how many are open: where one connection has no room for more of
// them, another one is made. Errors: those of Explain.
func (c *Client) Stream(ctx context.Context, r Resource, namespace, name, sub string, params map[string]string) (io.ReadCloser, error) {
	q := c.rest.Get().AbsPath(append(r.path(namespace, name), sub)...).Throttle(flowcontrol.NewFakeAlwaysRateLimiter())
	for k, v := range params {
		q = q.Param(k, v)
	}
	body, err := q.Stream(quiet(ctx))
	return body, c.Explain(err)
}

// IsEnd reports whether a stream ended in an orderly way.
func IsEnd(err error) bool { return errors.Is(err, io.EOF) }
