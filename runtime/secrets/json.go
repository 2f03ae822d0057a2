package secrets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JSON returns a JSON text with secrets hidden, with its order and numbers unchanged and without
// white space. Everything below a secret name is hidden, and so is `value` next to a secret
// `name`, the form of Kubernetes variables. Lists are treated as arguments; all other strings
// as by Text. The error means that data is not JSON.
func (r *Rules) JSON(data []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	m := masker{rules: r, in: d}
	if err := m.value(false, false); err != nil {
		return nil, fmt.Errorf("hide secrets: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("hide secrets: more than one JSON value")
	}
	return m.out.Bytes(), nil
}

type masker struct {
	rules *Rules
	in    *json.Decoder
	out   bytes.Buffer
}

// value copies the next value; hide means that it is secret, env that it has variables.
func (m *masker) value(hide, env bool) error {
	token, err := m.in.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return m.object(hide, env)
		}
		return m.list(hide, env)
	case string:
		return m.write(m.mask(v, hide))
	case json.Number:
		if hide {
			return m.write(Hidden)
		}
	}
	return m.write(token)
}

func (m *masker) mask(s string, hide bool) string {
	if hide && s != "" {
		return Hidden
	}
	return m.rules.Text(s)
}

func (m *masker) object(hide, env bool) error {
	m.out.WriteByte('{')
	name := "" // of {"name": ..., "value": ...}
	for first := true; m.in.More(); first = false {
		token, err := m.in.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if !first {
			m.out.WriteByte(',')
		}
		if err := m.write(key); err != nil {
			return err
		}
		m.out.WriteByte(':')
		at := m.out.Len()
		secret := m.rules.Name(key) || env && m.rules.variables[key] || key == "value" && (m.rules.Name(name) || m.rules.variables[name])
		if err := m.value(hide || secret, strings.EqualFold(key, "env")); err != nil {
			return err
		}
		if key == "name" {
			name = "" // names are not secret; a name that is not a string is ignored
			_ = json.Unmarshal(m.out.Bytes()[at:], &name)
		}
	}
	return m.close('}')
}

func (m *masker) list(hide, env bool) error {
	m.out.WriteByte('[')
	follows := false
	for first := true; m.in.More(); first = false {
		if !first {
			m.out.WriteByte(',')
		}
		var raw json.RawMessage
		if err := m.in.Decode(&raw); err != nil {
			return err
		}
		var arg string
		if raw[0] != '"' || json.Unmarshal(raw, &arg) != nil {
			if err := m.element(raw, hide || follows); err != nil {
				return err
			}
			follows = false
			continue
		}
		shown := m.rules.Arg(arg, follows)
		if name, _, ok := strings.Cut(arg, "="); ok && env && m.rules.variables[name] {
			shown = name + "=" + Hidden
		}
		if hide && arg != "" {
			shown = Hidden
		}
		if err := m.write(shown); err != nil {
			return err
		}
		follows = m.rules.TakesSecret(arg)
	}
	return m.close(']')
}

// element copies a value of a list that is not a string.
func (m *masker) element(raw json.RawMessage, hide bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	inner := masker{rules: m.rules, in: d}
	if err := inner.value(hide, false); err != nil {
		return err
	}
	m.out.Write(inner.out.Bytes())
	return nil
}

func (m *masker) close(end byte) error {
	m.out.WriteByte(end)
	_, err := m.in.Token()
	return err
}

// write writes a scalar without escaping < > &.
func (m *masker) write(v any) error {
	e := json.NewEncoder(&m.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	m.out.Truncate(m.out.Len() - 1) // the newline
	return nil
}
