// Package ui renders what commands print: Console has the streams, the level of
// messages and hides secrets, Table lines up columns by their width on a terminal,
// Display shows the progress of slow steps, StatusText describes an app. Text from
// outside goes through Clean or OneLine, so that it cannot drive the terminal.
package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/secrets"
)

// Streams are the three standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Levels of messages, from --log_level.
const (
	LevelDebug = iota
	LevelInfo
	LevelWarning
	LevelError
)

// Console prints output and messages: it has the three streams, their colors, the
// level of messages and the rules for secrets.
type Console struct {
	Streams
	OutStyle    Style
	ErrStyle    Style
	Level       int
	ShowSecrets bool
	Rules       func() (*secrets.Rules, error) // what a secret looks like; never nil rules
	warned      *sync.Map                      // lines of WarnOnce
}

// NewConsole returns a console without colors that hides secrets by the built-in rules.
func NewConsole(s Streams) *Console {
	return &Console{
		Streams: s, Level: LevelInfo, warned: &sync.Map{},
		Rules: func() (*secrets.Rules, error) { return secrets.New(nil) },
	}
}

// Clone returns a copy that remembers with c which lines WarnOnce has printed.
func (c *Console) Clone() *Console {
	clone := *c
	return &clone
}

// Plain turns colors off.
func (c *Console) Plain() { c.OutStyle, c.ErrStyle = Style{}, Style{} }

// Say prints a line for people on stderr.
func (c *Console) Say(format string, args ...any) {
	if c.Level <= LevelInfo {
		c.Line("", fmt.Sprintf(format, args...))
	}
}

// Warn prints a warning on stderr.
func (c *Console) Warn(format string, args ...any) {
	if c.Level <= LevelWarning {
		c.Line(c.ErrStyle.Paint(AnsiYellow, "warning: "), fmt.Sprintf(format, args...))
	}
}

// WarnOnce warns unless the same line was printed before: each query of an app may
// meet the same trouble.
func (c *Console) WarnOnce(line string) {
	if _, again := c.warned.LoadOrStore(line, true); !again {
		c.Warn("%s", line)
	}
}

// SayError prints an error on stderr.
func (c *Console) SayError(text string) { c.Line(c.ErrStyle.Paint(AnsiRed, "error: "), text) }

// Line prints one line on stderr; what it says cannot drive the terminal and
// has no secrets.
func (c *Console) Line(mark, text string) {
	fmt.Fprintf(c.Err, "torchx: %s%s\n", mark, OneLine(c.Masked(text))) // nowhere to report an error of stderr to
}

// Print writes to stdout.
func (c *Console) Print(text string) error {
	_, err := io.WriteString(c.Out, text)
	return err
}

// Printf writes to stdout.
func (c *Console) Printf(format string, args ...any) error {
	_, err := fmt.Fprintf(c.Out, format, args...)
	return err
}

// PrintJSON prints a value as indented JSON; < > & stay as they are.
func (c *Console) PrintJSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Masked returns text with what looks like a secret hidden.
func (c *Console) Masked(text string) string {
	if c.ShowSecrets {
		return text
	}
	r, _ := c.Rules() // commands that show values report a bad pattern
	return r.Text(text)
}

// MaskedArgs returns arguments with what looks like a secret hidden.
func (c *Console) MaskedArgs(args []string) []string {
	if c.ShowSecrets {
		return args
	}
	r, _ := c.Rules() // as for Masked
	return r.Args(args)
}

// MaskedJSON returns the JSON form of v with what looks like a secret hidden.
func (c *Console) MaskedJSON(v any) (json.RawMessage, error) {
	data, err := encodeJSON(v)
	if err != nil || c.ShowSecrets {
		return data, err
	}
	r, err := c.Rules()
	if err != nil {
		return nil, err
	}
	return r.JSON(data)
}

// MaskedYAML returns a value as YAML with what looks like a secret hidden.
func (c *Console) MaskedYAML(v any) (string, error) {
	data, err := c.MaskedJSON(v)
	if err != nil {
		return "", err
	}
	return yamlText(data)
}

// PrintMaskedJSON is PrintJSON with what looks like a secret hidden.
func (c *Console) PrintMaskedJSON(v any) error {
	data, err := c.MaskedJSON(v)
	if err != nil {
		return err
	}
	return c.PrintJSON(data)
}

// RequestYAML returns the request of a plan as YAML, in the documents it consists of.
func (c *Console) RequestYAML(request any) (string, error) {
	m, ok := request.(backend.ManifestLister)
	if !ok {
		return c.MaskedYAML(request)
	}
	var docs []string
	for _, part := range m.Manifests() {
		text, err := c.MaskedYAML(part)
		if err != nil {
			return "", err
		}
		docs = append(docs, text)
	}
	return strings.Join(docs, "---\n"), nil
}
