package logmux

import (
	"bytes"
	"encoding/json"

	"torchx/backends"
)

// jsonLine is one line of a log, or a notice, with --json.
type jsonLine struct {
	Time    *string `json:"time"` // RFC 3339; null for a notice without a time
	Role    string  `json:"role"`
	Replica int     `json:"replica"`
	Attempt int     `json:"attempt"`
	Stream  *string `json:"stream"` // null for a notice
	Line    *string `json:"line"`   // without its newline; null for a notice
	Notice  string  `json:"notice,omitempty"`
}

// json writes an object for each line; what is not UTF-8 becomes U+FFFD.
func (f *formatter) json(i int, b backends.Block, data []byte) {
	l := f.jsonOf(i, b)
	stream := string(b.Stream)
	l.Stream = &stream
	for line := range bytes.Lines(data) {
		text := string(bytes.TrimSuffix(line, []byte{'\n'}))
		l.Line = &text
		f.jsonOut(l)
		f.stats.Lines++
	}
}

func (f *formatter) jsonNotice(i int, b backends.Block) {
	l := f.jsonOf(i, b)
	l.Notice = b.Notice
	f.jsonOut(l)
}

func (f *formatter) jsonOf(i int, b backends.Block) jsonLine {
	l := jsonLine{Role: f.inputs[i].Role, Replica: f.inputs[i].ID, Attempt: b.Attempt}
	if !b.Time.IsZero() {
		at := b.Time.UTC().Format(timeFormat)
		l.Time = &at
	}
	return l
}

func (f *formatter) jsonOut(l jsonLine) {
	buf := bytes.NewBuffer(f.out)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	// Strings and numbers always encode, and a bytes.Buffer always writes.
	_ = e.Encode(l)
	f.out = buf.Bytes()
}
