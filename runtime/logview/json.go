package logview

import (
	"bytes"
	"encoding/json"

	"torchx/runtime/backend"
)

// jsonLine is one line of a log, or a notice, with --json.
type jsonLine struct {
	Time    *string `json:"time"` // RFC 3339; null for a notice without a time
	Role    string  `json:"role"`
	Replica int     `json:"replica"`
	Attempt int     `json:"attempt"`
	Stream  *string `json:"stream"` // null for a notice
	Line    *string `json:"line"`   // without its newline; null for a notice
}

// json writes an object for each line; what is not UTF-8 becomes U+FFFD.
func (f *formatter) json(i int, b backend.Block, data []byte) {
	l := f.jsonOf(i, b)
	stream, mark := string(b.Stream), ""
	l.Stream, l.Line = &stream, &mark
	begin := len(f.out)
	f.jsonOut(l)
	// All lines of a block differ in their text only, which comes last.
	object := bytes.TrimSuffix(f.out[begin:], []byte(`""}`+"\n"))
	f.object, f.out = append(f.object[:0], object...), f.out[:begin]
	for line := range bytes.Lines(data) {
		f.out = append(f.out, f.object...)
		f.out = appendQuoted(f.out, bytes.TrimSuffix(line, []byte{'\n'}))
		f.out = append(f.out, '}', '\n')
		f.stats.Shown = true
	}
}

// appendQuoted appends text as a JSON string.
func appendQuoted(out, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendEncoded(out, text)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

func appendEncoded(out, text []byte) []byte {
	buf := bytes.NewBuffer(out)
	encode(buf, string(text))
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
}

// encode writes v and a newline. Strings and numbers always encode, and a
// bytes.Buffer always takes them.
func encode(buf *bytes.Buffer, v any) {
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

func (f *formatter) jsonOf(i int, b backend.Block) jsonLine {
	l := jsonLine{Role: f.inputs[i].Role, Replica: f.inputs[i].ID, Attempt: b.Attempt}
	if !b.Time.IsZero() {
		at := b.Time.UTC().Format(timeFormat)
		l.Time = &at
	}
	return l
}

func (f *formatter) jsonOut(l jsonLine) {
	buf := bytes.NewBuffer(f.out)
	encode(buf, l)
	f.out = buf.Bytes()
}
