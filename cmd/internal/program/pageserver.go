package program

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/history"
	"torchx/runtime/safefile"
)

// Files below the home.
const (
	pageLock = "ui.lock"
	pageInfo = "ui.json"
	// PageLog has the messages of a server in the background.
	PageLog = "ui.log"
)

// maxPageInfo is the size of ui.json.
const maxPageInfo = 64 << 10

// PageServer describes the server of a home. It holds the lock of ui.lock for as long as it runs; ui.json,
// which it writes, has this as JSON.
type PageServer struct {
	URL        string    `json:"url"` // without a path
	Token      string    `json:"token"`
	Listen     string    `json:"listen"` // as in --listen
	PID        int       `json:"pid"`
	ReadOnly   bool      `json:"read_only"`
	Background bool      `json:"background"`
	StartedAt  time.Time `json:"started_at"`
}

// Link returns the URL of a path, which may have parameters, with the token.
func (i *PageServer) Link(path string) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return i.URL + path + separator + "token=" + url.QueryEscape(i.Token)
}

// RunPath returns the path of the page of an app.
func RunPath(backend, id string) string {
	return "/runs/" + url.PathEscape(id) + "?backend=" + url.QueryEscape(backend)
}

// PageURL returns the URL of the page of an app, "" if no page is served.
func (f *Factory) PageURL(ref history.AppKey) string {
	home, err := f.Env.Home()
	if err != nil {
		return ""
	}
	server := FindPage(home)
	if server == nil {
		return ""
	}
	return server.Link(RunPath(ref.Backend, ref.ID))
}

// FindPage returns the server of a home, nil if none runs.
func FindPage(home string) *PageServer {
	lock := filepath.Join(home, pageLock)
	if _, err := os.Stat(lock); err != nil || !filelock.Held(lock) {
		return nil
	}
	data, err := safefile.ReadFile(filepath.Join(home, pageInfo), maxPageInfo)
	info := &PageServer{}
	if err != nil || json.Unmarshal(data, info) != nil || info.URL == "" {
		return nil
	}
	return info
}

// PageClaim is the registration of a server.
type PageClaim struct {
	lock *filelock.Lock
	home string
}

// ClaimPage makes a server the one of its home. Errors: filelock.ErrHeld if there is one.
func ClaimPage(home string) (*PageClaim, error) {
	lock, err := filelock.TryAcquire(filepath.Join(home, pageLock))
	if err != nil {
		return nil, err
	}
	_ = os.Remove(filepath.Join(home, pageInfo)) // of a server that was killed
	return &PageClaim{lock, home}, nil
}

// Publish writes how to reach the server.
func (c *PageClaim) Publish(i *PageServer) error {
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	temp := filepath.Join(c.home, pageInfo+".new")
	if err := safefile.WriteFile(temp, data); err != nil {
		return fmt.Errorf("write %s: %w", temp, err)
	}
	return os.Rename(temp, filepath.Join(c.home, pageInfo))
}

// Close ends the registration.
func (c *PageClaim) Close() error {
	_ = os.Remove(filepath.Join(c.home, pageInfo)) // nothing to find
	return c.lock.Close()
}
