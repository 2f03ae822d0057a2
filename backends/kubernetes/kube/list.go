package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// ListOptions selects the objects of a list or watch.
type ListOptions struct {
	LabelSelector, FieldSelector string
	// Limit is the number of objects per page, 0 the default. All pages are read.
	Limit int64
	// Whole requests all objects in one page. Cached requests them from the server's cache,
	// which is cheaper for the server but may lag behind.
	Whole, Cached bool
}

// List returns the objects of a namespace, "" for all namespaces. Errors: those of Explain.
func List[T any](
	ctx context.Context, c *Client, r Resource, namespace string, o ListOptions,
) ([]T, error) {
	items, _, err := ListVersion[T](ctx, c, r, namespace, o)
	return items, err
}

// ListVersion is List, with the resource version of the list.
func ListVersion[T any](
	ctx context.Context, c *Client, r Resource, namespace string, o ListOptions,
) (items []T, version string, err error) {
	for next := ""; ; {
		q := o.apply(c.rest().Get().AbsPath(r.path(namespace, "")...))
		switch {
		case o.Cached:
			q = q.Param("resourceVersion", "0")
		case !o.Whole:
			q = q.Param("limit", strconv.FormatInt(cmp.Or(o.Limit, pageSize), 10))
		}
		if next != "" {
			q = q.Param("continue", next)
		}
		page, err := readPage(ctx, c, q, &items)
		if err != nil {
			return nil, "", err
		}
		if next = page.Continue; next == "" {
			return items, page.ResourceVersion, nil
		}
	}
}

// readPage appends the objects of a response. It never holds the whole response, which is 40 MB
// for 5,000 pods.
func readPage[T any](
	ctx context.Context, c *Client, q *rest.Request, items *[]T,
) (meta metav1.ListMeta, err error) {
	ctx, cancel := context.WithCancelCause(quiet(ctx))
	defer cancel(nil)
	// A slow server may send for longer than callTime, but must not stop.
	stalled := time.AfterFunc(callTime, func() { cancel(context.DeadlineExceeded) })
	defer stalled.Stop()
	body, err := q.Stream(ctx)
	if err != nil {
		return meta, c.Explain(cmp.Or(context.Cause(ctx), err))
	}
	defer body.Close()
	d := json.NewDecoder(body)
	err = eachField(d, func(name string) error {
		switch name {
		case "metadata":
			return d.Decode(&meta)
		case "items":
			return eachItem(d, func() error {
				var item T
				err := d.Decode(&item)
				stalled.Reset(callTime)
				slim(&item)
				*items = append(*items, item)
				return err
			})
		}
		return d.Decode(&json.RawMessage{})
	})
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	return meta, c.Explain(err)
}

// eachField reads a JSON object; read reads the value of a field.
func eachField(d *json.Decoder, read func(name string) error) error {
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		if err := read(text); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// eachItem reads a JSON list or null; read reads an item.
func eachItem(d *json.Decoder, read func() error) error {
	if begin, err := d.Token(); err != nil || begin == nil {
		return err
	}
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (o ListOptions) apply(q *rest.Request) *rest.Request {
	if o.LabelSelector != "" {
		q = q.Param("labelSelector", o.LabelSelector)
	}
	if o.FieldSelector != "" {
		q = q.Param("fieldSelector", o.FieldSelector)
	}
	return q
}

// Types of events, as the server writes them. The object of a bookmark has only a resource
// version.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	failed   = "ERROR"
)

// Event is a change of an object.
type Event[T any] struct {
	Type   string
	Object T
}

// Watcher returns the changes of objects one by one.
type Watcher[T any] struct {
	body io.ReadCloser
	dec  *json.Decoder
	c    *Client
}

// watchTime is the duration of a watch in seconds. By default the server chooses between 30
// and 60 minutes.
const watchTime = 600

// Watch returns the changes after a resource version of a list, with bookmarks.
// Errors: those of Explain; IsGone if that version is too old.
func Watch[T any](
	ctx context.Context, c *Client, r Resource, namespace string, o ListOptions, after string,
) (*Watcher[T], error) {
	q := o.apply(c.rest().Get().AbsPath(r.path(namespace, "")...)).Param("watch", "true").
		Param("allowWatchBookmarks", "true").Param("resourceVersion", after).
		Param("timeoutSeconds", strconv.Itoa(watchTime))
	body, err := q.Stream(quiet(ctx))
	if err != nil {
		return nil, c.Explain(err)
	}
	return &Watcher[T]{body, json.NewDecoder(body), c}, nil
}

// Next waits for the next change. Errors: io.EOF at the end of the watch (a new watch can
// continue from the last version), those of Explain.
func (w *Watcher[T]) Next() (Event[T], error) {
	event, failure := Event[T]{}, metav1.Status{}
	// The server writes the type first, so the object, which may be large, is decoded once.
	err := eachField(w.dec, func(name string) error {
		switch {
		case name == "type":
			return w.dec.Decode(&event.Type)
		case name == "object" && event.Type == failed:
			return w.dec.Decode(&failure)
		case name == "object":
			return w.dec.Decode(&event.Object)
		}
		return w.dec.Decode(&json.RawMessage{})
	})
	switch {
	case errors.Is(err, io.EOF):
		return event, io.EOF
	case err == nil && event.Type == failed:
		err = apierrors.FromObject(&failure)
	}
	slim(&event.Object)
	return event, w.c.Explain(err)
}

// Close ends the watch.
func (w *Watcher[T]) Close() error { return w.body.Close() }
