package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"torchx/runtime/pattern"
)

// yamlText returns a value as YAML, made from its JSON form with keys in their order. Control
// characters are escaped.
func yamlText(v any) (string, error) {
	data, err := EncodeJSON(v)
	if err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	w := yamlWriter{dec: d}
	if err := w.value("", false); err != nil {
		return "", fmt.Errorf("decode: %w", err)
	}
	return strings.TrimPrefix(strings.TrimPrefix(w.b.String(), "\n"), " "), nil
}

// EncodeJSON returns a value as one line of JSON with its newline; < > & are not escaped.
func EncodeJSON(v any) ([]byte, error) {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return data.Bytes(), nil
}

type yamlWriter struct {
	dec *json.Decoder
	b   strings.Builder
}

// value writes the next value after its key or dash: a scalar on the same line, the items of a
// map or list on lines below it, each after indent; after a dash the first item is on the same
// line.
func (w *yamlWriter) value(indent string, dash bool) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return w.items(indent, "{}", dash, w.key)
	case json.Delim('['):
		return w.items(indent, "[]", dash, func() (string, error) { return "-", nil })
	}
	if text, ok := token.(string); ok && isBlock(text) {
		w.block(indent, text)
		return nil
	}
	w.b.WriteString(" " + yamlScalar(token) + "\n")
	return nil
}

// blockLines is how many lines a text needs at least to be written line by line.
const blockLines = 5

// isBlock reports whether a text, such as a script, is easier to read line by line and can be
// written so without escapes.
func isBlock(text string) bool {
	if strings.Count(text, "\n") < blockLines || strings.ContainsAny(text[:1], " \t\n") ||
		strings.HasSuffix(text, "\n\n") {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (!unicode.IsPrint(r) || r == utf8.RuneError)
	}) < 0
}

// block writes a text as a literal block.
func (w *yamlWriter) block(indent, text string) {
	text, isWhole := strings.CutSuffix(text, "\n")
	w.b.WriteString(map[bool]string{true: " |\n", false: " |-\n"}[isWhole])
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			line = indent + line
		}
		w.b.WriteString(line + "\n")
	}
}

func (w *yamlWriter) key() (string, error) {
	token, err := w.dec.Token()
	if err != nil {
		return "", err
	}
	return yamlScalar(token) + ":", nil
}

func (w *yamlWriter) items(indent, empty string, dash bool, label func() (string, error)) error {
	if !w.dec.More() {
		w.b.WriteString(" " + empty + "\n")
		_, err := w.dec.Token()
		return err
	}
	before := "\n" + indent
	if dash {
		before = " "
	}
	for w.dec.More() {
		l, err := label()
		if err != nil {
			return err
		}
		w.b.WriteString(before + l)
		before = indent
		if err := w.value(indent+"  ", l == "-"); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// yamlPlain matches texts that need no quotes in YAML.
var yamlPlain = pattern.Lazy(`^[A-Za-z_/][A-Za-z0-9_./@+=-]*$`)

func yamlScalar(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return "null"
	case string:
		if yamlPlain().MatchString(v) && !yamlWord(v) {
			return v
		}
		return strconv.Quote(v) // Go's escapes are YAML's as well
	}
	return fmt.Sprint(token)
}

// yamlWord reports whether YAML reads a word as something other than a text.
func yamlWord(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return true
	}
	return false
}
