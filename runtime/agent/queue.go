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

// A home has one entry in its folder "queue" for each waiting app, in order of arrival:
// "<ticket>-<folder>", whose content is the handle. An app removes its entry when it
// starts or ends; the next app in the queue removes that of a dead agent.
const queueFolder = "queue"

// ticketDigits makes the names of entries sort by number.
const ticketDigits = 12

func queueDir(home string) string { return filepath.Join(home, queueFolder) }

// queueEntry is an entry of the queue.
type queueEntry struct {
	ticket int
	folder string // of the bundle
}

func (p queueEntry) name() string { return fmt.Sprintf("%0*d-%s", ticketDigits, p.ticket, p.folder) }

// readQueue returns the queue from its front on.
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

// enqueue enters the bundle at the end; the caller has the home's admission lock.
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

// dequeue takes the bundle out of the queue, if it is there.
func (b Bundle) dequeue() {
	all, err := readQueue(b.home())
	if err != nil {
		return // the next one in the queue sees that it does not live
	}
	for _, p := range all {
		if p.folder == filepath.Base(b.Dir) {
			_ = os.Remove(filepath.Join(queueDir(b.home()), p.name()))
		}
	}
}

// predecessor returns the handle of the app before the bundle, "" if it is the first, and
// how many entries stand before it. Dead ones on the way are taken away.
func (b Bundle) predecessor() (handle string, before int, err error) {
	all, err := readQueue(b.home())
	if err != nil {
		return "", 0, err
	}
	own := slices.IndexFunc(all, func(p queueEntry) bool { return p.folder == filepath.Base(b.Dir) })
	for i := own - 1; i >= 0; i-- {
		path := filepath.Join(queueDir(b.home()), all[i].name())
		if BundleOf(b.home(), all[i].folder).isLive() {
			data, err := safefile.ReadFile(path, maxHolder)
			if err == nil {
				return string(data), i + 1, nil
			}
		}
		_ = os.Remove(path) // a queue that cannot be written moves on all the same
	}
	return "", 0, nil
}

// isLive reports whether an agent or submitter holds the app, by its mark: that
// goes when the app's result is there.
func (b Bundle) isLive() bool {
	_, err := os.Lstat(b.life().Entry())
	return err == nil && b.life().held()
}
