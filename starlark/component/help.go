package component

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The column where the help of arguments begins, and the minimum width of wrapped text.
const (
	helpColumn = 26
	leastWidth = 50
)

// Default is a value that applies instead of a parameter's own default.
type Default struct {
	Text   string // as typed
	Origin string // its source, such as FILE:LINE
}

// Help returns the text of --help, wrapped to width columns (0: 80), with ANSI colors if color is
// set. defaults holds values of a configuration file by parameter.
func (c *Component) Help(color bool, width int, defaults map[string]Default) string {
	c = c.withDefaults(defaults)
	if width <= 0 {
		width = 80
	}
	h := &helpWriter{width: max(width, leastWidth), color: color}
	h.usage(c)
	h.description(c.Doc)
	var required, options []Param
	for _, p := range c.Params {
		switch {
		case p.Variadic:
			h.section("Arguments", []Param{p})
		case p.Required:
			required = append(required, p)
		default:
			options = append(options, p)
		}
	}
	h.section("Required options", required)
	h.section("Options", options)
	h.entry("--help", "show this help")
	return h.text.String()
}

// withDefaults returns a copy of the component whose parameters have other defaults.
func (c *Component) withDefaults(defaults map[string]Default) *Component {
	out := *c
	out.Params = slices.Clone(c.Params)
	for i := range out.Params {
		p := &out.Params[i]
		if d, ok := defaults[p.Name]; ok {
			p.Required, p.Default, p.origin = false, d.Text, d.Origin
		}
	}
	return &out
}

type helpWriter struct {
	text  strings.Builder
	width int
	color bool
}

func (h *helpWriter) style(code, text string) string {
	if !h.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (h *helpWriter) usage(c *Component) {
	label := "Usage: "
	lines := wrap(c.UsageWords(c.Ref, placeholder, true), h.width-len(label)-2)
	h.text.WriteString(h.style("1", "Usage:") + " " + strings.Join(lines, "\n"+strings.Repeat(" ", len(label)+2)) + "\n")
}

// UsageWords returns the words of a command line that runs the component as name. placeholder
// returns the text for the value of a required parameter.
func (c *Component) UsageWords(
	name string, placeholder func(p *Param) string, options bool,
) []string {
	words := []string{"torchx run", name}
	var rest []string
	for i := range c.Params {
		p := &c.Params[i]
		switch {
		case p.Variadic:
			rest = []string{"[--] [" + strings.ToUpper(p.Name) + " ...]"}
		case p.Required:
			words = append(words, p.Flag()+" "+placeholder(p))
		}
	}
	if options {
		words = append(words, "[options]")
	}
	return append(words, rest...)
}

// description wraps paragraphs; indented lines and list items are kept unchanged.
func (h *helpWriter) description(doc string) {
	var paragraph []string
	flush := func() {
		for _, line := range wrap(paragraph, h.width) {
			h.text.WriteString(line + "\n")
		}
		paragraph = nil
	}
	if doc != "" {
		h.text.WriteString("\n")
	}
	for line := range strings.Lines(doc) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			flush()
			h.text.WriteString("\n")
		case indentation(line) > 0 || strings.HasPrefix(line, "- ") ||
			strings.HasPrefix(line, "* "):
			flush()
			h.text.WriteString(line + "\n")
		default:
			paragraph = append(paragraph, strings.Fields(line)...)
		}
	}
	flush()
}

func (h *helpWriter) section(title string, params []Param) {
	if len(params) > 0 || title == "Options" {
		h.text.WriteString("\n" + h.style("1", title+":") + "\n")
	}
	for i := range params {
		p := &params[i]
		h.entry(p.synopsis(), strings.TrimSpace(p.Help+" "+p.remark()))
	}
}

// entry writes an option and its help, on the same line if the option is short.
func (h *helpWriter) entry(name, help string) {
	lines := wrap(strings.Fields(help), h.width-helpColumn)
	line := "  " + h.style("32", name)
	gap := helpColumn - 2 - utf8.RuneCountInString(name)
	if gap < 2 {
		h.text.WriteString(line + "\n")
		line, gap = "", helpColumn
	}
	for i, text := range lines {
		if i > 0 {
			line, gap = "", helpColumn
		}
		h.text.WriteString(line + strings.Repeat(" ", gap) + text + "\n")
	}
	if len(lines) == 0 && line != "" {
		h.text.WriteString(line + "\n")
	}
}

// synopsis returns how a parameter is typed: "-j str", "--env K=V,...".
func (p *Param) synopsis() string {
	if p.Variadic {
		return strings.ToUpper(p.Name) + " ..."
	}
	return p.Flag() + " " + placeholder(p)
}

// placeholder returns the text for the value of a parameter, such as "int".
func placeholder(p *Param) string {
	switch t := p.Type; t.Kind {
	case List:
		return t.elem().placeholder() + ",..."
	case Dict:
		if t.Elem != String {
			return "K=" + t.elem().placeholder() + ",..."
		}
		return "K=V,..."
	}
	if p.IsSwitch() {
		return "[" + p.Type.Kind.String() + "]"
	}
	return p.Type.placeholder()
}

// placeholder returns the text for a scalar value: the choices of an enum if they are short, else
// the name of the kind.
func (t Type) placeholder() string {
	if t.Kind == Enum {
		if choices := strings.Join(t.Choices, "|"); len(choices) < helpColumn {
			return "{" + choices + "}"
		}
	}
	return t.Kind.String()
}

// remark lists choices that the placeholder lacks, then "required" or the default unless the help
// mentions it.
func (p *Param) remark() string {
	if p.Type.has(Enum) && !strings.Contains(placeholder(p), "{") {
		return strings.TrimSpace("(one of: " + strings.Join(p.Type.Choices, ", ") + ") " + p.defaultRemark())
	}
	return p.defaultRemark()
}

func (p *Param) defaultRemark() string {
	switch {
	case p.origin != "":
		return fmt.Sprintf("(default: %s, from %s)", cmp.Or(shortened(oneLine(p.Default)), `""`), p.origin)
	case p.Required:
		return "(required)"
	case p.Variadic || strings.Contains(p.Help, "(default"):
		return ""
	case p.Default == "":
		return `(default: "")`
	default:
		return fmt.Sprintf("(default: %s)", shortened(oneLine(p.Default)))
	}
}

// shortened truncates a default that is longer than any user would type.
func shortened(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// wrap fills lines of at most width columns; a longer word gets its own line.
func wrap(words []string, width int) []string {
	var lines []string
	line, columns := "", 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if line != "" && columns+1+n > width {
			lines = append(lines, line)
			line, columns = "", 0
		}
		if line != "" {
			line += " "
			columns++
		}
		line += word
		columns += n
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
