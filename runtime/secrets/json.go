package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// JSON returns a JSON text with secrets hidden, with its order and numbers unchanged and without
// white space. Everything below a secret name is hidden, and so is `value` next to a secret
// `name`, the form of Kubernetes variables. Lists are treated as arguments; all other strings
// as by Text. The error means that data is not JSON.
func (r *Rules) JSON(data []byte) ([]byte, error) {
	if !json.Valid(data) {
		return nil, errors.New("hide secrets: the text is not one JSON value")
	}
	m := masker{rules: r, in: data, names: map[string]bool{}}
	m.out.Grow(len(data))
	m.value(false, false)
	return m.out.Bytes(), nil
}

// masker copies a valid JSON text. It reads bytes instead of tokens because the status of a
// thousand replicas has 25,000 values.
type masker struct {
	rules *Rules
	in    []byte // what is left
	out   bytes.Buffer
	names map[string]bool // whether a name is secret
}

// next skips white space and returns the first byte of the next token.
func (m *masker) next() byte {
	m.in = bytes.TrimLeft(m.in, " \t\r\n")
	return m.in[0]
}

// take copies one byte.
func (m *masker) take() {
	m.out.WriteByte(m.in[0])
	m.in = m.in[1:]
}

// value copies the next value; hide means that it is secret, env that it has variables.
func (m *masker) value(hide, env bool) {
	switch c := m.next(); c {
	case '{':
		m.object(hide, env)
	case '[':
		m.list(hide, env)
	case '"':
		raw, text := m.text()
		m.write(raw, text, m.mask(text, hide))
	default:
		n := bytes.IndexAny(m.in, ",]} \t\r\n")
		if n < 0 {
			n = len(m.in)
		}
		if hide && c != 't' && c != 'f' && c != 'n' { // a number
			m.encode(Hidden)
		} else {
			m.out.Write(m.in[:n])
		}
		m.in = m.in[n:]
	}
}

func (m *masker) mask(s string, hide bool) string {
	if hide && s != "" {
		return Hidden
	}
	return m.rules.Text(s)
}

func (m *masker) object(hide, env bool) {
	name := "" // of {"name": ..., "value": ...}
	for m.take(); m.next() != '}'; {
		if m.in[0] == ',' {
			m.take()
			m.next()
		}
		raw, key := m.text()
		m.write(raw, key, key)
		m.next()
		m.take() // the colon
		at := m.out.Len()
		secret := m.secret(key) || env && m.rules.variables[key] || key == "value" &&
			(m.secret(name) || m.rules.variables[name])
		m.value(hide || secret, strings.EqualFold(key, "env"))
		if key == "name" {
			name = "" // names are not secret; a name that is not a string is ignored
			_ = json.Unmarshal(m.out.Bytes()[at:], &name)
		}
	}
	m.take()
}

func (m *masker) list(hide, env bool) {
	follows := false
	for m.take(); m.next() != ']'; {
		if m.in[0] == ',' {
			m.take()
			m.next()
		}
		if m.in[0] != '"' {
			m.value(hide || follows, false)
			follows = false
			continue
		}
		raw, arg := m.text()
		shown := m.rules.Arg(arg, follows)
		if name, _, ok := strings.Cut(arg, "="); ok && env && m.rules.variables[name] {
			shown = name + "=" + Hidden
		}
		if hide && arg != "" {
			shown = Hidden
		}
		m.write(raw, arg, shown)
		follows = m.rules.TakesSecret(arg)
	}
	m.take()
}

// secret reports whether the value of a name is secret.
func (m *masker) secret(name string) bool {
	known, ok := m.names[name]
	if !ok {
		known = m.rules.Name(name)
		m.names[name] = known
	}
	return known
}

// text reads a string and returns it as it is written, and its meaning.
func (m *masker) text() (raw []byte, s string) {
	n := 1
	for ; m.in[n] != '"'; n++ {
		if m.in[n] == '\\' {
			n++
		}
	}
	raw, m.in = m.in[:n+1], m.in[n+1:]
	if isPlain(raw) {
		return raw, string(raw[1:n])
	}
	_ = json.Unmarshal(raw, &s) // it is valid
	return raw, s
}

// isPlain reports whether a string is written as it is: in ASCII, without escapes.
func isPlain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// write writes what is shown of a string, without escaping < > &.
func (m *masker) write(raw []byte, s, shown string) {
	if shown == s && isPlain(raw) {
		m.out.Write(raw)
		return
	}
	m.encode(shown)
}

func (m *masker) encode(s string) {
	e := json.NewEncoder(&m.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)                 // a string always encodes
	m.out.Truncate(m.out.Len() - 1) // the newline
}
