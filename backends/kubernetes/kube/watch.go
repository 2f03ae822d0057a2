package kube

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Types of events, as the server writes them. Of a bookmark's object only the resource
// version is set.
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

// watchTime is how long the server lets a watch live, in seconds, instead of between half
// an hour and an hour.
const watchTime = 600

// Watch returns the changes after a resource version of a list, with bookmarks.
// Errors: those of Explain; IsGone if that version is too old.
func Watch[T any](ctx context.Context, c *Client, r Resource, namespace string, o ListOptions, after string) (*Watcher[T], error) {
	q := o.on(c.rest.Get().AbsPath(r.path(namespace, "")...)).Param("watch", "true").
		Param("allowWatchBookmarks", "true").Param("resourceVersion", after).
		Param("timeoutSeconds", strconv.Itoa(watchTime))
	body, err := q.Stream(quiet(ctx))
	if err != nil {
		return nil, c.Explain(err)
	}
	return &Watcher[T]{body, json.NewDecoder(body), c}, nil
}

// Next waits for the next change. Errors: io.EOF at the end of the watch, after which a
// new one continues from the last version; otherwise those of Explain.
func (w *Watcher[T]) Next() (Event[T], error) {
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	event := Event[T]{}
	if err := w.dec.Decode(&e); err != nil {
		if errors.Is(err, io.EOF) {
			return event, io.EOF
		}
		return event, w.c.Explain(err)
	}
	if e.Type == failed {
		status := metav1.Status{}
		if err := json.Unmarshal(e.Object, &status); err != nil {
			return event, w.c.Explain(err)
		}
		return event, w.c.Explain(apierrors.FromObject(&status))
	}
	event.Type = e.Type
	return event, w.c.Explain(json.Unmarshal(e.Object, &event.Object))
}

// Close ends the watch.
func (w *Watcher[T]) Close() error { return w.body.Close() }
