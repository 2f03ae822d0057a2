package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/logstore"
)

// cursorFile is in the folder of an attempt beside its log.
const cursorFile = "cursor.json"

const (
	// settleTime is by how much entries of the two streams can be out of order: the
	// engine takes the time of each before it writes them one after the other.
	settleTime = time.Second
	// cursorStep is how much later the next cursor is, and cursorEvery how often one is
	// written: what a new agent reads again.
	cursorStep  = 100 * time.Millisecond
	cursorEvery = time.Second
)

// cursor is a place in the engine's log and in the archive: all entries from Since
// on stand from those offsets on. Since is the time of an entry, so that one can
// see whether the engine still has it.
type cursor struct {
	Since   time.Time `json:"since"`
	Offsets [2]int64  `json:"offsets"`        // of stdout and stderr
	Done    bool      `json:"done,omitempty"` // the whole log is in the archive
}

func readCursor(dir string) (c cursor, err error) {
	data, err := os.ReadFile(filepath.Join(dir, cursorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil // from the beginning
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("read %s: %w", cursorFile, err)
	}
	return c, nil
}

func (c cursor) write(dir string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, "."+cursorFile)
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, cursorFile))
}

// marker finds cursors while entries pass. Within a stream times never go back.
type marker struct {
	last    [2]time.Time // of each stream
	end     [2]int64     // offset after the last entry
	pending *cursor      // entries before it may still come
	ready   time.Time    // time of the last cursor

	passed, at, from int // entries: all, before pending, before the last cursor
}

// since is how many entries came since the last cursor.
func (m *marker) since() int { return m.passed - m.from }

// pass notes an entry before it is archived, and returns a cursor that is sure now.
func (m *marker) pass(s logstore.Stream, t time.Time, size int) (sure *cursor) {
	if p := m.pending; p != nil {
		switch {
		case t.Before(p.Since):
			p.Offsets[s] += int64(size)
		case t.Sub(p.Since) > settleTime:
			sure, m.pending, m.ready, m.from = p, nil, p.Since, m.at
		}
	}
	other := 1 - s
	if m.pending == nil && t.After(m.last[s]) && t.After(m.last[other]) && t.Sub(m.ready) >= cursorStep {
		m.pending, m.at = &cursor{Since: t, Offsets: m.end}, m.passed
	}
	m.passed++
	m.last[s] = t
	m.end[s] += int64(size)
	return sure
}
