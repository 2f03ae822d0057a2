package logstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// loss is a gap in one stream, a line of log.lost: Bytes that arrived between Since and Until
// are missing before Offset, which is the start of a line.
type loss struct {
	Stream string    `json:"stream"`
	Offset int64     `json:"offset"`
	Bytes  int64     `json:"bytes"`
	Lines  int64     `json:"lines"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
	Gap    string    `json:"gap,omitempty"` // set instead of Bytes if output may be missing here, of unknown size
}

// add adds bytes that could not be written.
func (l *loss) add(p []byte, now time.Time, reason string) {
	if l.Bytes == 0 {
		l.Since, l.Reason = now, reason
	}
	l.Until = now
	l.Bytes += int64(len(p))
	l.Lines += int64(bytes.Count(p, newline))
}

// notice returns the line that a reader shows for missing output.
func (l loss) notice() string {
	if l.Gap != "" {
		return l.Gap
	}
	reason := l.Reason
	if reason == "" {
		reason = "they could not be written"
	}
	since := ""
	if !l.Since.IsZero() {
		since = " since " + l.Since.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%d bytes of %s lost here%s (%s)", l.Bytes, l.Stream, since, reason)
}

// maxLost bounds log.lost in bytes: a gap takes some 200.
const maxLost = 64 << 20

// parseLosses decodes log.lost; it skips torn and invalid lines.
func parseLosses(data []byte) (losses [2][]loss) {
	for line := range bytes.Lines(data) {
		var l loss
		if !bytes.HasSuffix(line, newline) || json.Unmarshal(line, &l) != nil ||
			l.Bytes <= 0 && l.Gap == "" {
			continue
		}
		switch l.Stream {
		case Stdout.String():
			losses[Stdout] = append(losses[Stdout], l)
		case Stderr.String():
			losses[Stderr] = append(losses[Stderr], l)
		}
	}
	return losses
}

// loadLosses reads log.lost if it has grown.
func (a *attempt) loadLosses() {
	info, err := os.Stat(filepath.Join(a.dir, LostFile))
	if err != nil || info.Size() == a.lostSize && a.index.head.lost == a.marked {
		return
	}
	a.lostSize = info.Size()
	p, err := safefile.ReadFile(filepath.Join(a.dir, LostFile), maxLost)
	if err != nil {
		return
	}
	a.losses, a.marked = parseLosses(p), [2]int64{}
	for s := range a.losses {
		for _, l := range a.losses[s] {
			a.marked[s] += l.Bytes
		}
	}
}

// skipLosses skips the gaps before the first line.
func (a *attempt) skipLosses(s Stream) {
	for a.shown[s] < len(a.losses[s]) && a.losses[s][a.shown[s]].Offset < a.pos[s] {
		a.shown[s]++
	}
}

// gap returns the next gap of a stream before offset limit.
func (a *attempt) gap(s Stream, limit int64) (loss, bool) {
	if a.shown[s] < len(a.losses[s]) && a.losses[s][a.shown[s]].Offset < limit {
		return a.losses[s][a.shown[s]], true
	}
	return loss{}, false
}

// lossBlock returns the notice of a gap if it is in the selected time.
func (a *attempt) lossBlock(s Stream, l loss) (backend.Block, bool, error) {
	if l.Gap != "" && s == Stderr && a.sel.streams[Stdout] {
		return backend.Block{}, false, nil // stdout has the same gap
	}
	if l.Until.UnixNano() < a.sel.since || l.Since.UnixNano() >= a.sel.until {
		return backend.Block{}, false, nil
	}
	return backend.Block{Time: l.Until, Stream: streamNames[s], Attempt: a.number, Notice: l.notice()}, true, nil
}

// lastLoss returns the gaps at the end of the streams: those in log.lost, then those that
// only the index's header has.
func (a *attempt) lastLoss() (backend.Block, bool, error) {
	for s, on := range a.sel.streams {
		if !on || a.ended {
			continue
		}
		for {
			l, ok := a.gap(Stream(s), math.MaxInt64)
			if !ok {
				break
			}
			a.shown[s]++
			if b, ok, err := a.lossBlock(Stream(s), l); ok {
				return b, ok, err
			}
		}
		if missing := a.index.head.lost[s] - a.marked[s]; missing > 0 {
			a.marked[s] += missing
			since := a.index.head.lostSince
			l := loss{
				Stream: Stream(s).String(), Bytes: missing,
				Since: time.Unix(0, since), Until: time.Unix(0, max(since, a.index.totals().time)),
			}
			if b, ok, err := a.lossBlock(Stream(s), l); ok {
				return b, ok, err
			}
		}
	}
	return backend.Block{}, false, nil
}
