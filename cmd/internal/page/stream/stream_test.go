package stream

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/logstore"
)

// deadline bounds each wait.
const deadline = time.Minute

func fileFeed(name, path string) Feed {
	return Feed{
		Name: name, Event: Event{Kind: name, AppID: "app"},
		Paths: func(context.Context) []string { return []string{filepath.Dir(path)} },
		Print: func() string {
			info, err := os.Stat(path)
			if err != nil {
				return ""
			}
			return fmt.Sprint(info.Size())
		},
	}
}

func newHub(t *testing.T, most int) *Hub {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	files := logstore.NewHub()
	t.Cleanup(func() { cancel(); files.Close() })
	return NewHub(ctx, files, most)
}

// appendTo makes a file longer.
func appendTo(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// take changes the file until the client gets an event: the feed does not tell of earlier changes.
func take(t *testing.T, c *Client, path string) []Event {
	t.Helper()
	for end := time.After(deadline); ; {
		appendTo(t, path)
		select {
		case <-c.Ready:
			return c.Take()
		case <-time.After(20 * time.Millisecond):
		case <-end:
			t.Fatalf("no event of %s within %v", path, deadline)
		}
	}
}

func TestEachClientGetsEachKindOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	h := newHub(t, 10)
	feed := fileFeed("log", path)
	one, leaveOne, _ := h.Subscribe([]Feed{feed})
	two, leaveTwo, _ := h.Subscribe([]Feed{feed})
	want := []Event{{"log", "app"}}
	for range 3 { // the second client takes nothing meanwhile
		if got := take(t, one, path); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	<-two.Ready
	if got := two.Take(); !slices.Equal(got, want) {
		t.Errorf("slow client: got %v, want %v", got, want)
	}
	leaveOne()
	leaveOne()
	if got := h.Clients(); got != 1 {
		t.Errorf("got %d clients, want 1", got)
	}
	leaveTwo()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.feeds) != 0 {
		t.Errorf("got %d feeds without clients, want none", len(h.feeds))
	}
}

func TestASettledClientGetsEachLaterChange(t *testing.T) {
	t.Parallel()
	h := newHub(t, 10)
	for i := range 20 {
		path := filepath.Join(t.TempDir(), "file")
		appendTo(t, path)
		before := h.Sent()
		c, leave, _ := h.Subscribe([]Feed{fileFeed(fmt.Sprint(i), path)})
		<-c.Settled
		if h.Sent() == before {
			t.Error("what was read before the client settled is still shared")
		}
		appendTo(t, path)
		select {
		case <-c.Ready:
		case <-time.After(deadline):
			t.Fatalf("no event within %v", deadline)
		}
		leave()
	}
}

func TestASlowFeedGreetsAgain(t *testing.T) {
	t.Parallel()
	h := newHub(t, 10)
	slow := make(chan struct{})
	feed := Feed{
		Name: "run", Event: Event{Kind: "run"}, Print: func() string { return "" },
		Paths: func(context.Context) []string { <-slow; return nil },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, []Feed{feed}) }))
	t.Cleanup(server.CloseClientConnections)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	in, greetings := bufio.NewScanner(answer.Body), 0
	for greetings < 2 && in.Scan() {
		if in.Text() == "event: hello" {
			if greetings++; greetings == 1 {
				close(slow)
			}
		}
	}
	if greetings != 2 {
		t.Errorf("got %d greetings, want one at once and one of the settled feed: %v", greetings, in.Err())
	}
}

func TestTooManyClients(t *testing.T) {
	t.Parallel()
	h := newHub(t, 1)
	_, leave, ok := h.Subscribe(nil)
	if !ok {
		t.Fatal("the first client was refused")
	}
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody), nil)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("got status %d, want %d", w.Code, http.StatusServiceUnavailable)
	}
	leave()
	if _, _, ok := h.Subscribe(nil); !ok {
		t.Error("a client was refused after another left")
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	h := newHub(t, 10)
	state, changed := "a", make(chan func(), 1)
	ended := make(chan struct{})
	feed := Feed{
		Name: "run", Event: Event{Kind: "run"}, Paths: func(context.Context) []string { return nil },
		Observe: func(ctx context.Context, tell func()) {
			changed <- tell
			<-ctx.Done()
			close(ended)
		},
	}
	printed := make(chan struct{}, 100)
	feed.Print = func() string { defer func() { printed <- struct{}{} }(); return state }
	c, leave, _ := h.Subscribe([]Feed{feed})
	tell := <-changed
	<-printed
	state = "b"
	tell()
	select {
	case <-c.Ready:
	case <-time.After(deadline):
		t.Fatalf("no event within %v", deadline)
	}
	leave()
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Fatalf("the observation did not end within %v", deadline)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	got := message(Event{"log", "a\nevent: evil"})
	if want := "event: log\ndata: {\"app_id\":\"a\\nevent: evil\"}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Count(got, "\n") != 3 {
		t.Errorf("got %d lines, want 3", strings.Count(got, "\n"))
	}
}
