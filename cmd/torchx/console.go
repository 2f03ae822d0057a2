package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/secrets"
)

// streams are the three standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Levels of messages, from --log_level.
const (
	levelDebug = iota
	levelInfo
	levelWarning
	levelError
)

// console is where the program speaks: the three streams, how each is coloured,
// which messages are shown and what is hidden in them.
type console struct {
	streams
	outStyle    style
	errStyle    style
	level       int
	showSecrets bool
	rules       func() (*secrets.Rules, error) // what a secret looks like; never nil rules
	warned      sync.Map                       // lines of warnOnce
}

// newConsole returns a console that colours nothing and hides what looks like a
// secret by the program's own rules.
func newConsole(s streams) *console {
	return &console{streams: s, level: levelInfo, rules: func() (*secrets.Rules, error) { return secrets.New(nil) }}
}

// plain turns colours off.
func (c *console) plain() { c.outStyle, c.errStyle = style{}, style{} }

// say prints a line for people on stderr.
func (c *console) say(format string, args ...any) {
	if c.level <= levelInfo {
		c.line("", fmt.Sprintf(format, args...))
	}
}

// warn prints a warning on stderr.
func (c *console) warn(format string, args ...any) {
	if c.level <= levelWarning {
		c.line(c.errStyle.paint(ansiYellow, "warning: "), fmt.Sprintf(format, args...))
	}
}

// warnOnce leaves out what was said before: each look at an app may meet the same trouble.
func (c *console) warnOnce(line string) {
	if _, again := c.warned.LoadOrStore(line, true); !again {
		c.warn("%s", line)
	}
}

func (c *console) sayError(text string) { c.line(c.errStyle.paint(ansiRed, "error: "), text) }

// line prints one line on stderr; what it says cannot drive the terminal and
// has no secrets.
func (c *console) line(mark, text string) {
	fmt.Fprintf(c.err, "torchx: %s%s\n", mark, oneLine(c.masked(text))) // nowhere to report an error of stderr to
}

// print writes to stdout.
func (c *console) print(text string) error {
	_, err := io.WriteString(c.out, text)
	return err
}

func (c *console) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(c.out, format, args...)
	return err
}

// printJSON prints a value as indented JSON; < > & stay as they are.
func (c *console) printJSON(v any) error {
	e := json.NewEncoder(c.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// masked is text with what looks like a secret hidden.
func (c *console) masked(text string) string {
	if c.showSecrets {
		return text
	}
	r, _ := c.rules() // commands that show values report a bad pattern
	return r.Text(text)
}

// maskedJSON is the JSON form of v with what looks like a secret hidden.
func (c *console) maskedJSON(v any) (json.RawMessage, error) {
	data, err := encodeJSON(v)
	if err != nil || c.showSecrets {
		return data, err
	}
	r, err := c.rules()
	if err != nil {
		return nil, err
	}
	return r.JSON(data)
}

// maskedYAML is yamlText with what looks like a secret hidden.
func (c *console) maskedYAML(v any) (string, error) {
	data, err := c.maskedJSON(v)
	if err != nil {
		return "", err
	}
	return yamlText(data)
}

// printMaskedJSON is printJSON with what looks like a secret hidden.
func (c *console) printMaskedJSON(v any) error {
	data, err := c.maskedJSON(v)
	if err != nil {
		return err
	}
	return c.printJSON(data)
}

// requestYAML is the request of a plan, in the documents that it consists of.
func (c *console) requestYAML(request any) (string, error) {
	m, ok := request.(backend.Manifests)
	if !ok {
		return c.maskedYAML(request)
	}
	var docs []string
	for _, part := range m.Manifests() {
		text, err := c.maskedYAML(part)
		if err != nil {
			return "", err
		}
		docs = append(docs, text)
	}
	return strings.Join(docs, "---\n"), nil
}
