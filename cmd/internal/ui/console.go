// Package ui renders the output of commands: Console has the streams and the level of messages
// and hides secrets, Table aligns columns, Fields aligns labels with values, Display shows the
// progress of slow steps, StateLine describes an app in one line. Text from outside goes through
// Clean or OneLine, so that it cannot control the terminal.
package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/humanize"
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

// Console prints output and messages.
type Console struct {
	Streams
	OutStyle    Style
	ErrStyle    Style
	Level       int
	ShowSecrets bool
	Rules       func() (*secrets.Rules, error) // that recognize secrets; rules are never nil
	shared      *shared
}

// shared is what clones of a console have in common.
type shared struct {
	warned sync.Map   // lines printed by WarnOnce and SayOnce
	line   sync.Mutex // held while a line is written: some are written while others work
}

// NewConsole returns a console without colors that hides secrets by the built-in rules.
func NewConsole(s Streams) *Console {
	return &Console{
		Streams: s, Level: LevelInfo, shared: &shared{},
		Rules: func() (*secrets.Rules, error) { return secrets.New(nil) },
	}
}

// Clone returns a copy that writes to the same streams: it shares with c which lines WarnOnce has
// printed.
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

// SayOnce is Say, unless it has printed the line.
func (c *Console) SayOnce(format string, args ...any) {
	if _, printed := c.shared.warned.LoadOrStore("say: "+fmt.Sprintf(format, args...), true); !printed {
		c.Say(format, args...)
	}
}

// Warn prints a warning on stderr.
func (c *Console) Warn(format string, args ...any) {
	if c.Level <= LevelWarning {
		c.Line(c.ErrStyle.Paint(AnsiYellow, "warning: "), fmt.Sprintf(format, args...))
	}
}

// WarnOnce warns unless the same line was printed before: each query of an app may have the
// same problem.
func (c *Console) WarnOnce(line string) {
	if _, again := c.shared.warned.LoadOrStore(line, true); !again {
		c.Warn("%s", line)
	}
}

// SayError prints an error on stderr.
func (c *Console) SayError(text string) { c.Line(c.ErrStyle.Paint(AnsiRed, "error: "), text) }

// CanAsk reports whether a person can answer a question on the terminal.
func (c *Console) CanAsk() bool {
	in, ok := c.In.(*os.File)
	return ok && IsTerminal(in) && IsTerminal(c.Err)
}

// Confirm asks a question on the terminal; every answer except y and yes, and EOF, means no.
func (c *Console) Confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(c.Err, "torchx: %s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(c.In).ReadString('\n') // EOF means no
		answered <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Err)
		return false, context.Cause(ctx)
	case line := <-answered:
		if !strings.HasSuffix(line, "\n") {
			fmt.Fprintln(c.Err)
		}
		line = strings.ToLower(strings.TrimSpace(line))
		return line == "y" || line == "yes", nil
	}
}

// maxLine is the maximum length of a message in bytes.
const maxLine = 4096

// Line prints one line on stderr: control characters escaped, secrets hidden, at most maxLine
// bytes.
func (c *Console) Line(mark, text string) {
	text = shorten(OneLine(c.Masked(text)))
	c.shared.line.Lock()
	defer c.shared.line.Unlock()
	fmt.Fprintf(c.Err, "torchx: %s%s\n", mark, text) // an error of stderr cannot be reported
}

// shorten returns a text of at most maxLine bytes. It shortens words first: the remedy at the
// end of a message stays.
func shorten(text string) string {
	if len(text) <= maxLine {
		return text
	}
	words := strings.Split(text, " ")
	for i := range words {
		words[i] = humanize.Text(words[i])
	}
	if text = strings.Join(words, " "); len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + "…"
	}
	return text
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

// PrintJSON prints a value as indented JSON; < > & are not escaped.
func (c *Console) PrintJSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// HideVariables also hides the values of variables with these names.
func (c *Console) HideVariables(names []string) {
	if len(names) == 0 {
		return
	}
	rules := c.Rules
	c.Rules = func() (*secrets.Rules, error) {
		r, err := rules()
		return r.WithVariables(names), err
	}
}

// Masked returns text with secrets hidden.
func (c *Console) Masked(text string) string {
	if c.ShowSecrets {
		return text
	}
	r, _ := c.Rules() // commands that show values report a bad pattern
	return r.Text(text)
}

// MaskedArgs returns arguments with secrets hidden.
func (c *Console) MaskedArgs(args []string) []string {
	if c.ShowSecrets {
		return args
	}
	r, _ := c.Rules() // as for Masked
	return r.Args(args)
}

// MaskedJSON returns the JSON form of v with secrets hidden.
func (c *Console) MaskedJSON(v any) (json.RawMessage, error) {
	data, err := EncodeJSON(v)
	if err != nil || c.ShowSecrets {
		return data, err
	}
	r, err := c.Rules()
	if err != nil {
		return nil, err
	}
	return r.JSON(data)
}

// MaskedYAML returns a value as YAML with secrets hidden.
func (c *Console) MaskedYAML(v any) (string, error) {
	data, err := c.MaskedJSON(v)
	if err != nil {
		return "", err
	}
	return yamlText(data)
}

// PrintMaskedJSON is PrintJSON with secrets hidden.
func (c *Console) PrintMaskedJSON(v any) error {
	data, err := c.MaskedJSON(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(data), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = c.Out.Write(b.Bytes())
	return err
}

// RequestYAML returns the request of a plan as YAML, one document for each of its manifests.
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
