package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/safefile"
)

// The folder "queue" of a home has one entry for each waiting app, in order of arrival:
// "<ticket>-<folder>", with the handle as content. An app removes its entry when it starts
// or ends; the next app in the queue removes the entry of a dead agent.
const queueFolder = "queue"

// ticketDigits pads tickets, so that names sort by number.
const ticketDigits = 12

func queueDir(home string) string { return filepath.Join(home, queueFolder) }

// queueEntry is an entry of the queue.
type queueEntry struct {
	ticket int
	folder string // of the bundle
}

func (p queueEntry) name() string { return fmt.Sprintf("%0*d-%s", ticketDigits, p.ticket, p.folder) }

// readQueue returns the queue, front first.
func readQueue(home string) ([]queueEntry, error) {
	entries, err := LiveEntries(queueDir(home)) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	var all []queueEntry
	for _, e := range entries {
		ticket, folder, ok := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(ticket); ok && err == nil {
			all = append(all, queueEntry{n, folder})
		}
	}
	return all, nil
}

// enqueue appends the bundle to the queue; the caller holds the home's admission lock.
func (b Bundle) enqueue(handle string) error {
	if err := makePrivate(queueDir(b.home())); err != nil {
		return fmt.Errorf("create %s: %w", queueDir(b.home()), err)
	}
	all, err := readQueue(b.home())
	if err != nil {
		return err
	}
	p := queueEntry{ticket: 1, folder: filepath.Base(b.Dir)}
	if len(all) > 0 {
		p.ticket = all[len(all)-1].ticket + 1
	}
	if err := safefile.WriteFile(filepath.Join(queueDir(b.home()), p.name()), []byte(handle)); err != nil {
		return fmt.Errorf("enter the queue: %w", err)
	}
	return nil
}

// dequeue removes the bundle from the queue.
func (b Bundle) dequeue() {
	all, err := readQueue(b.home())
	if err != nil {
		return // the next app in the queue notices that this one has ended
	}
	for _, p := range all {
		if p.folder == filepath.Base(b.Dir) {
			_ = os.Remove(filepath.Join(queueDir(b.home()), p.name()))
		}
	}
}

// predecessor returns the handle of the app ahead of the bundle, "" if none, and the number
// of entries ahead. It removes entries of dead apps on the way.
func (b Bundle) predecessor() (handle string, before int, err error) {
	all, err := readQueue(b.home())
	if err != nil {
		return "", 0, err
	}
	ownIndex := slices.IndexFunc(all, func(p queueEntry) bool { return p.folder == filepath.Base(b.Dir) })
	for i := ownIndex - 1; i >= 0; i-- {
		path := filepath.Join(queueDir(b.home()), all[i].name())
		if BundleOf(b.home(), all[i].folder).isLive() {
			data, err := safefile.ReadFile(path, maxHolder)
			if err == nil {
				return string(data), i + 1, nil
			}
		}
		_ = os.Remove(path) // a queue that is read-only moves on, too
	}
	return "", 0, nil
}

// isLive reports whether an agent or submitter holds the app, by its live entry, which
// is removed when the app has a result.
func (b Bundle) isLive() bool {
	_, err := os.Lstat(b.supervisor().Entry())
	return err == nil && b.supervisor().held()
}
