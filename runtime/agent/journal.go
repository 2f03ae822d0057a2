package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/policy"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// startRecord is a line of starts.jsonl. After the agent's death, reconcile finds a
// replica's processes by it.
type startRecord struct {
	Seq     int       `json:"seq,omitempty"` // order across both journals, from 1; 0: written by an older agent
	Time    time.Time `json:"time"`
	Role    string    `json:"role"`
	Replica int       `json:"replica"`
	Attempt int       `json:"attempt"`
	BootID  string    `json:"boot_id"`
	// Uptime is what uptime returned at the start, in nanoseconds; 0: not known.
	Uptime int64 `json:"uptime_ns,omitempty"`
	Process
}

// exitRecord is a line of exits.jsonl.
type exitRecord struct {
	Seq     int       `json:"seq,omitempty"` // as in startRecord
	Time    time.Time `json:"time"`
	Role    string    `json:"role"`
	Replica int       `json:"replica"`
	Attempt int       `json:"attempt"`
	Code    int       `json:"code"` // 128+n for signal n
	Signal  string    `json:"signal,omitempty"`
	Msg     string    `json:"msg,omitempty"`     // why it did not start, was killed or was not ready in time
	Refused bool      `json:"refused,omitempty"` // the replica could not start
	Stopped bool      `json:"stopped,omitempty"` // ended by the agent
	Lost    bool      `json:"lost,omitempty"`    // Exit.Lost
	Overran bool      `json:"overran,omitempty"` // Exit.Overran
	Usage   *Usage    `json:"usage,omitempty"`
}

func (r exitRecord) exit() Exit {
	return Exit{
		Replica: r.replica(), Attempt: r.Attempt, Time: r.Time, Code: r.Code, Signal: r.Signal,
		Usage: r.Usage, Msg: r.Msg, Lost: r.Lost, Overran: r.Overran,
	}
}

func (exit exitRecord) replica() spec.Replica { return spec.Replica{Role: exit.Role, ID: exit.Replica} }

// journal appends JSON lines to a file. Appended records survive a kill immediately, and
// a power cut once they are synced: in the background, or by Close.
type journal struct {
	file *os.File
	cut  bool          // the last write failed: the file may end in a partial line
	wake chan struct{} // requests a sync; nil: no background sync
	done chan struct{}
}

func openJournal(path string, sync bool) (*journal, error) {
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &journal{file: f}
	if sync {
		j.wake, j.done = make(chan struct{}, 1), make(chan struct{})
		go j.syncLoop()
	}
	return j, nil
}

// syncLoop syncs in the background, so that the app never waits for the disk. One fsync
// serves all records appended since the previous one.
func (j *journal) syncLoop() {
	defer close(j.done)
	for range j.wake {
		_ = j.file.Sync() // Close tries again and reports
	}
}

// append writes all records with one write.
func (j *journal) append(records ...any) error {
	var data []byte
	if j.cut {
		data = append(data, '\n')
	}
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode record: %w", err)
		}
		data = append(append(data, line...), '\n')
	}
	_, err := j.file.Write(data)
	j.cut = err != nil
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if j.wake != nil {
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// Close makes the journal durable.
func (j *journal) Close() error {
	if j.wake == nil {
		return j.file.Close()
	}
	close(j.wake)
	<-j.done
	return errors.Join(j.file.Sync(), j.file.Close())
}

// cancelRequest is the content of cancel.json and kill.json.
type cancelRequest struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason,omitempty"`
}

// cancelRequested reports whether a cancel was requested, and whether a forced one. Each
// has its own file, so that no request can undo a stronger one.
func (b Bundle) cancelRequested() (cancel, force bool) {
	force = b.hasFile(killFile)
	return force || b.hasFile(cancelFile), force
}

// cancelMessage returns the reason of the cancel request, or the message of apps without one.
func (b Bundle) cancelMessage() string {
	var r cancelRequest
	if readJSON(b.path(cancelFile), &r) != nil || r.Reason == "" {
		return policy.CancelledText
	}
	return r.Reason
}

// hasFile reports whether a file exists. A damaged request is still a request.
func (b Bundle) hasFile(name string) bool {
	_, err := os.Lstat(b.path(name))
	return err == nil
}

// clock returns the recorded times of one app. They never go back, so that nothing ends
// before it started: if the system's clock is set back, clock advances by the monotonic
// clock until the system's has caught up.
type clock struct {
	last   time.Time
	readAt time.Time // when last was returned, by the monotonic clock
}

// at returns the time to record for an event at t by the system's clock.
func (c *clock) at(t time.Time) time.Time {
	t = t.Round(0) // without the monotonic part, as when read from a file
	switch {
	case !t.Before(c.last):
	case c.readAt.IsZero():
		t = c.last
	default:
		t = c.last.Add(time.Since(c.readAt))
	}
	c.last, c.readAt = t, time.Now()
	return t
}

func (a *agent) now() time.Time { return a.record.clock.at(failpoint.Now()) }
