package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
)

// Files below the home.
const (
	lockFile = "ui.lock"
	infoFile = "ui.json"
	// logFile has the messages of a server in the background.
	logFile = "ui.log"
)

// maxInfo is the size of ui.json.
const maxInfo = 64 << 10

// Info describes the server of a home. It holds the lock of ui.lock for as long as it runs; ui.json,
// which it writes, has its Info.
type Info struct {
	URL        string    `json:"url"` // without a path
	Token      string    `json:"token"`
	Listen     string    `json:"listen"` // as in --listen
	PID        int       `json:"pid"`
	ReadOnly   bool      `json:"read_only"`
	Background bool      `json:"background"`
	StartedAt  time.Time `json:"started_at"`
}

// Link returns the URL of a path, which may have parameters, with the token.
func (i *Info) Link(path string) string {
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

// Find returns the server of a home, nil if none runs.
func Find(home string) *Info {
	lock := filepath.Join(home, lockFile)
	if _, err := os.Stat(lock); err != nil || !filelock.Held(lock) {
		return nil
	}
	data, err := safefile.ReadFile(filepath.Join(home, infoFile), maxInfo)
	info := &Info{}
	if err != nil || json.Unmarshal(data, info) != nil || info.URL == "" {
		return nil
	}
	return info
}

// claim is the registration of a server.
type claim struct {
	lock *filelock.Lock
	home string
}

// register makes a server the one of its home. Errors: filelock.ErrHeld if there is one.
func register(home string) (*claim, error) {
	lock, err := filelock.TryAcquire(filepath.Join(home, lockFile))
	if err != nil {
		return nil, err
	}
	_ = os.Remove(filepath.Join(home, infoFile)) // of a server that was killed
	return &claim{lock, home}, nil
}

// publish writes how to reach the server.
func (c *claim) publish(i *Info) error {
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	temp := filepath.Join(c.home, infoFile+".new")
	if err := safefile.WriteFile(temp, data); err != nil {
		return fmt.Errorf("write %s: %w", temp, err)
	}
	return os.Rename(temp, filepath.Join(c.home, infoFile))
}

// Close ends the registration.
func (c *claim) Close() error {
	_ = os.Remove(filepath.Join(c.home, infoFile)) // nothing to find
	return c.lock.Close()
}
