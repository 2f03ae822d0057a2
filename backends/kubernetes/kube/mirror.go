package kube

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"torchx/runtime/backend"
)

const (
	// firstPause and longestPause bound the pause before a failed request is repeated: a user
	// is waiting.
	firstPause   = 250 * time.Millisecond
	longestPause = 5 * time.Second
	// awayTime is how long a server may be unreachable before the mirror gives up.
	awayTime = 15 * time.Minute
	// pollTime is the interval between lists if the user may not watch.
	pollTime = 2 * time.Second
	// steadyTime is the duration from which a watch counts as healthy.
	steadyTime = 10 * time.Second
)

// Mirror keeps a copy of objects up to date: it lists them once and then watches them. It
// retries while the server is unreachable, and lists again if the server no longer has the
// changes since the last version.
type Mirror[T any] struct {
	client    *Client
	resource  Resource
	namespace string
	options   ListOptions

	mu      sync.Mutex
	items   map[types.UID]*T
	gone    map[types.UID]*T // deleted since the first list
	version string           // of the objects of Seed, from which Run goes on; "": Run lists them
	ready   bool
	changed chan struct{}
}

// NewMirror returns a mirror that is empty until it runs.
func NewMirror[T any](c *Client, r Resource, namespace string, o ListOptions) *Mirror[T] {
	return &Mirror[T]{client: c, resource: r, namespace: namespace, options: o, items: map[types.UID]*T{}, gone: map[types.UID]*T{}, changed: make(chan struct{})}
}

// Seed sets the objects to those of a list of that version, which Run then does not repeat. It is
// called before Run.
func (m *Mirror[T]) Seed(items []T, version string) {
	m.version = version
	m.change(func() { m.replace(items) })
}

// Snapshot returns the existing objects, sorted by name, and the last known state of objects
// deleted while the mirror ran. It is not ready before the first list.
func (m *Mirror[T]) Snapshot() (items, gone []T, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return byName(m.items), byName(m.gone), m.ready
}

// byName returns the objects sorted by name. It sorts pointers, because a pod has a kilobyte.
func byName[T any](all map[types.UID]*T) []T {
	sorted := slices.SortedFunc(maps.Values(all), func(a, b *T) int { return cmp.Compare(metaOf(a).GetName(), metaOf(b).GetName()) })
	objects := make([]T, len(sorted))
	for i, o := range sorted {
		objects[i] = *o
	}
	return objects
}

// Changed returns a channel that is closed at the next change.
func (m *Mirror[T]) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

func metaOf[T any](object *T) metav1.Object {
	return any(object).(metav1.ObjectMetaAccessor).GetObjectMeta()
}

// UID returns an object's UID.
func UID[T any](object *T) types.UID { return metaOf(object).GetUID() }

// change runs do, which changes the copy, and closes the channel of Changed.
func (m *Mirror[T]) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
	close(m.changed)
	m.changed = make(chan struct{})
}

// Run keeps the copy up to date until ctx is done, whose error it returns, or until it
// cannot go on. Errors: those of Explain.
func (m *Mirror[T]) Run(ctx context.Context) error {
	version, poll := m.version, false
	var failingSince time.Time
	pause := firstPause
	for {
		began := time.Now()
		var err error
		if version == "" {
			version, err = m.list(ctx)
		}
		switch {
		case err != nil:
		case poll:
			version = ""
			pause, failingSince = firstPause, time.Time{}
			if err := Sleep(ctx, pollTime); err != nil {
				return err
			}
			continue
		default:
			version, err = m.watch(ctx, version)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil || time.Since(began) > steadyTime {
			pause, failingSince = firstPause, time.Time{}
		}
		switch {
		case err == nil:
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			version = ""
		case errors.Is(err, ErrForbidden) && version != "":
			poll = true
		case !errors.Is(err, backend.ErrUnavailable) && !errors.Is(err, io.ErrUnexpectedEOF):
			return err
		}
		if err != nil && failingSince.IsZero() {
			failingSince = time.Now()
		}
		if !failingSince.IsZero() && time.Since(failingSince) > awayTime {
			return err
		}
		if err := Sleep(ctx, pause/2+rand.N(pause)); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// list replaces the copy. It does not read the server's cache, which may be older than the
// copy.
func (m *Mirror[T]) list(ctx context.Context) (version string, err error) {
	items, version, err := ListVersion[T](ctx, m.client, m.resource, m.namespace, m.options)
	if err != nil {
		return "", err
	}
	m.change(func() { m.replace(items) })
	return version, nil
}

// replace replaces the copy; the caller holds mu.
func (m *Mirror[T]) replace(items []T) {
	old := m.items
	m.items, m.ready = make(map[types.UID]*T, len(items)), true
	for i := range items {
		uid := UID(&items[i])
		if before, ok := old[uid]; ok {
			keepDeletionTime(before, &items[i])
		}
		m.items[uid] = &items[i]
	}
	for uid, object := range old {
		if _, ok := m.items[uid]; !ok {
			m.gone[uid] = object
		}
	}
}

// watch applies changes until the watch ends, and returns the last version seen.
func (m *Mirror[T]) watch(ctx context.Context, version string) (string, error) {
	w, err := Watch[T](ctx, m.client, m.resource, m.namespace, m.options, version)
	if err != nil {
		return version, err
	}
	defer w.Close()
	stop := context.AfterFunc(ctx, func() { w.Close() })
	defer stop()
	for {
		e, err := w.Next()
		if errors.Is(err, io.EOF) {
			return version, nil
		}
		if err != nil {
			return version, err
		}
		meta := metaOf(&e.Object)
		version = meta.GetResourceVersion()
		if e.Type == Bookmark {
			continue
		}
		m.change(func() {
			if old, ok := m.items[meta.GetUID()]; ok {
				keepDeletionTime(old, &e.Object)
			}
			if e.Type == Deleted {
				delete(m.items, meta.GetUID())
				m.gone[meta.GetUID()] = &e.Object
				return
			}
			m.items[meta.GetUID()] = &e.Object
		})
	}
}

// keepDeletionTime keeps the time of the first deletion request: a node overwrites it when it
// ends the grace period of a finished pod.
func keepDeletionTime[T any](old, object *T) {
	before, now := metaOf(old), metaOf(object)
	if grace := before.GetDeletionGracePeriodSeconds(); grace != nil && *grace > 0 {
		now.SetDeletionTimestamp(before.GetDeletionTimestamp())
		now.SetDeletionGracePeriodSeconds(grace)
	}
}
