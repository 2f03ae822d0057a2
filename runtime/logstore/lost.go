package logstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// loss is a gap in one stream, a line of log.lost: Bytes that came between
// Since and Until stand missing before Offset, which is the start of a line.
type loss struct {
	Stream string    `json:"stream"`
	Offset int64     `json:"offset"`
	Bytes  int64     `json:"bytes"`
	Lines  int64     `json:"lines"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
	Gap    string    `json:"gap,omitempty"` // set instead: output may be missing here, nobody knows how much
}

// add counts bytes that could not be written.
func (l *loss) add(p []byte, now time.Time, reason string) {
	if l.Bytes == 0 {
		l.Since, l.Reason = now, reason
	}
	l.Until = now
	l.Bytes += int64(len(p))
	l.Lines += int64(bytes.Count(p, newline))
}

// notice is the line that a reader shows in place of what is missing.
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

// parseLosses reads log.lost; a line that is torn or not ours is left out.
func parseLosses(data []byte) (losses [2][]loss) {
	for line := range bytes.Lines(data) {
		var l loss
		if !bytes.HasSuffix(line, newline) || json.Unmarshal(line, &l) != nil || l.Bytes <= 0 && l.Gap == "" {
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
