package logview

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"torchx/runtime/backend"
)

// jsonLine is one line of a log with --json.
type jsonLine struct {
	Time    *string        `json:"time"` // RFC 3339, UTC; nil if unknown
	Role    string         `json:"role"`
	Replica int            `json:"replica"`
	Attempt int            `json:"attempt"`
	Stream  backend.Stream `json:"stream"`
	Line    string         `json:"line"` // without its newline
}

// json writes an object for each line; invalid UTF-8 becomes U+FFFD.
func (f *formatter) json(i int, b backend.Block, data []byte) {
	f.closeLong()
	f.jsonBegin(i, b)
	for line := range bytes.Lines(data) {
		f.out = append(f.out, f.object...)
		f.out = appendEscaped(f.out, bytes.TrimSuffix(line, []byte{'\n'}))
		f.out = append(f.out, "\"}\n"...)
		f.stats.Shown = true
	}
}

// jsonBegin sets f.object to the start of the objects of a block's lines, up to their text:
// the objects differ only in that.
func (f *formatter) jsonBegin(i int, b backend.Block) {
	l := jsonLine{Role: f.inputs[i].Role, Replica: f.inputs[i].ID, Attempt: b.Attempt, Stream: b.Stream}
	if !b.Time.IsZero() {
		at := b.Time.UTC().Format(timeFormat)
		l.Time = &at
	}
	begin := len(f.out)
	buf := bytes.NewBuffer(f.out)
	encode(buf, l)
	f.out = buf.Bytes()
	object := bytes.TrimSuffix(f.out[begin:], []byte("\"}\n"))
	f.object, f.out = append(f.object[:0], object...), f.out[:begin]
}

// jsonLong writes the part in c of a line that is too long to be kept until its end. Its
// object stays open; if another line comes between, the rest becomes a separate object.
func (f *formatter) jsonLong(i int, b backend.Block, c *carry) {
	if f.long != c {
		f.closeLong()
		f.jsonBegin(i, b)
		f.out = append(f.out, f.object...)
		f.long = c
		f.stats.Shown = true
	}
	text := bytes.TrimSuffix(c.data, []byte{'\n'})
	n := len(text)
	if b.Partial {
		n = wholeRunes(text)
	}
	f.out = appendEscaped(f.out, text[:n])
	c.data = append(c.data[:0], text[n:]...)
	if !b.Partial {
		f.closeLong()
	}
}

// closeLong ends the object of a long line.
func (f *formatter) closeLong() {
	if f.long != nil {
		f.out = append(f.out, "\"}\n"...)
		f.long = nil
	}
}

// wholeRunes returns the length of text without an incomplete rune at its end.
func wholeRunes(text []byte) int {
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if !utf8.FullRune(text[n:]) {
				return n
			}
			break
		}
	}
	return len(text)
}

// appendEscaped appends text as the contents of a JSON string, escaped as package json does.
func appendEscaped(out, text []byte) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) && text[n] >= ' ' && text[n] <= '~' && text[n] != '"' && text[n] != '\\' {
			n++
		}
		out = append(out, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		r, n := utf8.DecodeRune(text)
		at := strings.IndexByte("\"\\\b\f\n\r\t", text[0])
		switch {
		case at >= 0:
			out = append(out, '\\', `"\bfnrt`[at])
		case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError && n == 1:
			const hex = "0123456789abcdef"
			out = append(out, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// encode writes v and a newline. Strings and numbers always encode, and a bytes.Buffer
// accepts every write.
func encode(buf *bytes.Buffer, v any) {
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}
