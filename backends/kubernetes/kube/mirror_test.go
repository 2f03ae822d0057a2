package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster is an API server that lists and watches the pods of a test.
type cluster struct {
	mu       sync.Mutex
	version  int
	pods     map[string]string // object by name
	watches  []chan string     // open ones
	requests []string
	away     bool // it fails every request
	expired  bool // the next watch fails, because its version has expired
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	q := r.URL.Query()
	watch := q.Get("watch") == "true"
	c.requests = append(c.requests, map[bool]string{false: "list", true: "watch " + q.Get("resourceVersion")}[watch])
	switch {
	case c.away:
		c.mu.Unlock()
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case !watch:
		var items []string
		for _, p := range c.pods {
			items = append(items, p)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d"},"items":[%s]}`, c.version, strings.Join(items, ","))
		c.mu.Unlock()
		return
	case c.expired:
		c.expired = false
		c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}}`)
		return
	}
	events := make(chan string, 100)
	c.watches = append(c.watches, events)
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e, open := <-events:
			if !open {
				return
			}
			fmt.Fprintln(w, e)
			w.(http.Flusher).Flush()
		}
	}
}

// put changes a pod. Watches are not notified of hidden changes.
func (c *cluster) put(kind, name, extra string, hidden bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	object := fmt.Sprintf(`{"metadata":{"name":%q,"uid":"uid-%s","resourceVersion":"%d"%s}}`, name, name, c.version, extra)
	c.pods[name] = object
	if kind == Deleted {
		delete(c.pods, name)
	}
	if kind == Bookmark {
		object = fmt.Sprintf(`{"metadata":{"resourceVersion":"%d"}}`, c.version)
		delete(c.pods, name)
	}
	for _, w := range c.watches {
		if !hidden {
			w <- fmt.Sprintf(`{"type":%q,"object":%s}`, kind, object)
		}
	}
}

// cut runs do and ends all watches.
func (c *cluster) cut(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	for _, w := range c.watches {
		close(w)
	}
	c.watches = nil
}

func (c *cluster) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.requests, ", ")
}

// mirror starts a mirror of the cluster's pods.
func mirror(t *testing.T, c *cluster) *Mirror[corev1.Pod] {
	t.Helper()
	return seeded(t, c, nil, "")
}

// seeded starts a mirror that has read pods of a version, "" for none.
func seeded(t *testing.T, c *cluster, pods []corev1.Pod, version string) *Mirror[corev1.Pod] {
	t.Helper()
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "t",
		"clusters": []any{map[string]any{"name": "t", "cluster": map[string]any{"server": server.URL}}},
		"contexts": []any{map[string]any{"name": "t", "context": map[string]any{"cluster": "t", "user": "t"}}},
		"users":    []any{map[string]any{"name": "t", "user": map[string]any{}}},
	}
	data, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	access, err := Find(ClusterRef{Kubeconfig: file}, []string{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := access.Open(Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMirror[corev1.Pod](client, Pods, "ns", ListOptions{LabelSelector: "a=b"})
	if version != "" {
		m.Seed(pods, version)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err == nil {
			t.Error("got no error at the end of Run, want one")
		}
		client.Close()
	})
	return m
}

// podNames returns the pods of a mirror; deleted pods begin with "-".
func podNames(m *Mirror[corev1.Pod]) string {
	items, gone, ready := m.Snapshot()
	if !ready {
		return "not ready"
	}
	var text []string
	for i := range items {
		text = append(text, items[i].Name+items[i].Labels["is"])
	}
	for i := range gone {
		text = append(text, "-"+gone[i].Name)
	}
	return strings.Join(text, " ")
}

// wantPods waits until the mirror has the pods that want lists.
func wantPods(t *testing.T, m *Mirror[corev1.Pod], c *cluster, want string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		changed := m.Changed()
		got := podNames(m)
		if got == want {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("got pods %q, want %q (requests: %s)", got, want, c.log())
		}
	}
}

// watched waits until a client watches.
func (c *cluster) watched(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		n := len(c.watches)
		c.mu.Unlock()
		if n > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no client watches after 30 s (requests: %s)", c.log())
		}
	}
}

// TestMirror: the mirror follows changes. After a cut it resumes the watch, also from a
// bookmark. It lists again if its version has expired, and waits for an unreachable server.
func TestMirror(t *testing.T) {
	t.Parallel()
	c := &cluster{version: 10, pods: map[string]string{}}
	c.put(Added, "a", "", false)
	m := mirror(t, c)
	wantPods(t, m, c, "a")
	c.watched(t)
	c.put(Added, "b", "", false)
	c.put(Modified, "a", `,"labels":{"is":"!"}`, false)
	wantPods(t, m, c, "a! b")
	c.put(Deleted, "b", "", false)
	c.put(Bookmark, "none", "", false)
	wantPods(t, m, c, "a! -b")
	c.cut(func() {})
	c.watched(t)
	c.put(Added, "c", "", false)
	wantPods(t, m, c, "a! c -b")
	if want := "list, watch 11, watch 15"; c.log() != want {
		t.Errorf("got requests %s, want %s", c.log(), want)
	}
	c.cut(func() { c.expired, c.pods = true, map[string]string{"a": c.pods["a"]} })
	wantPods(t, m, c, "a! -b -c")
	c.watched(t)
	c.cut(func() { c.away = true })
	c.put(Added, "d", "", true)
	time.AfterFunc(2*time.Second, func() { c.cut(func() { c.away = false; c.expired = true }) })
	wantPods(t, m, c, "a! d -b -c")
}

// TestSeed: a mirror does not list what it has, unless the version has expired.
func TestSeed(t *testing.T) {
	t.Parallel()
	c := &cluster{version: 10, pods: map[string]string{}}
	c.put(Added, "a", "", false)
	pods := []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a"}}}
	m := seeded(t, c, pods, "11")
	wantPods(t, m, c, "a")
	c.watched(t)
	c.put(Added, "b", "", false)
	wantPods(t, m, c, "a b")
	if want := "watch 11"; c.log() != want {
		t.Errorf("got requests %s, want %s", c.log(), want)
	}
	old := &cluster{version: 12, expired: true, pods: map[string]string{}}
	wantPods(t, seeded(t, old, pods, "11"), old, "-a")
}

// TestMirrorKeepsDeletionTime: the time of the first deletion request survives the end of
// the grace period.
func TestMirrorKeepsDeletionTime(t *testing.T) {
	t.Parallel()
	c := &cluster{version: 1, pods: map[string]string{}}
	m := mirror(t, c)
	wantPods(t, m, c, "")
	c.watched(t)
	c.put(Added, "a", `,"deletionTimestamp":"2026-11-21T12:00:30Z","deletionGracePeriodSeconds":30`, false)
	c.put(Deleted, "a", `,"deletionTimestamp":"2026-11-21T12:00:09Z","deletionGracePeriodSeconds":0`, false)
	wantPods(t, m, c, "-a")
	_, gone, _ := m.Snapshot()
	if p := gone[0]; *p.DeletionGracePeriodSeconds != 30 || p.DeletionTimestamp.Second() != 30 {
		t.Errorf("deleted at %v with %d s, want *p.DeletionGracePeriodSeconds == 30 and p.DeletionTimestamp.Second() == 30", p.DeletionTimestamp, *p.DeletionGracePeriodSeconds)
	}
}
