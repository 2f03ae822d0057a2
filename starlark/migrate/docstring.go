package migrate

import (
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/pattern"
)

// docString writes a docstring whose lines after the first one are indented.
func docString(doc string, indent int) string {
	lines := clean(doc)
	for i, l := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(l)
		if i > 0 && l != "" {
			lines[i] = strings.Repeat(" ", indent) + lines[i]
		}
	}
	if len(lines) > 1 {
		lines = append(lines, strings.Repeat(" ", indent))
	} else if strings.HasSuffix(lines[0], `"`) {
		lines[0] += " "
	}
	return `"""` + strings.Join(lines, "\n") + `"""`
}

// clean removes the common indentation of all lines but the first, and empty lines at both ends,
// as Python does for docstrings.
func clean(doc string) []string {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(doc, "\r\n", "\n"), "\t", "        "), "\n")
	margin := -1
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
		if n := len(l) - len(strings.TrimLeft(l, " ")); i > 0 && lines[i] != "" &&
			(margin < 0 || n < margin) {
			margin = n
		}
	}
	for i, l := range lines {
		switch {
		case i == 0:
			lines[i] = strings.TrimLeft(l, " ")
		case l != "" && margin > 0:
			lines[i] = l[margin:]
		}
	}
	for len(lines) > 1 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

var (
	argsHeader  = pattern.Lazy(`(?i)^(args|arguments|parameters|params):$`)
	otherHeader = pattern.Lazy(`^[A-Z][A-Za-z ]*:$`)
	entryForm   = pattern.Lazy(`^(\*{0,2})(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)$`)
)

// componentDoc returns the docstring of a component with the types of all arguments.
func (p *porter) componentDoc(def *node, doc string) string {
	lines := clean(doc)
	if strings.TrimSpace(doc) == "" {
		lines = []string{"Ported from " + def.Name + " of " + filepath.Base(p.name) + ", which has no description."}
		p.hint(def.Line, "%s has no docstring: `component list` and --help show no description", def.Name)
	}
	if argsHeader().MatchString(lines[0]) {
		lines = append([]string{"Ported from " + def.Name + " of " + filepath.Base(p.name) + ".", ""}, lines...)
	}
	start := slices.IndexFunc(lines, argsHeader().MatchString)
	var before, args, after []string
	if start < 0 {
		before = lines
	} else {
		end := start + 1
		for end < len(lines) && (lines[end] == "" || strings.HasPrefix(lines[end], " ")) &&
			!otherHeader().MatchString(lines[end]) {
			end++
		}
		before, args, after = lines[:start], lines[start+1:end], lines[end:]
	}
	out := summary(before)
	if entries := p.argsSection(def, args); len(entries) > 0 {
		out = append(append(out, "", "Args:"), entries...)
	}
	if len(after) > 0 {
		out = append(append(out, ""), after...)
	}
	return strings.Join(out, "\n")
}

// summary joins the lines of the first paragraph: the first line is what lists show.
func summary(lines []string) []string {
	end := slices.Index(lines, "")
	if end < 0 {
		end = len(lines)
	}
	first := strings.Join(strings.Fields(strings.Join(lines[:end], " ")), " ")
	out := append([]string{first}, lines[end:]...)
	for len(out) > 1 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// argsSection writes `name (type): help` for every parameter, in their order.
func (p *porter) argsSection(def *node, lines []string) []string {
	help := map[string][]string{}
	indent, name := -1, ""
	for _, l := range lines {
		body := strings.TrimLeft(l, " ")
		if n := len(l) - len(body); body != "" && (indent < 0 || n <= indent) {
			if m := entryForm().FindStringSubmatch(body); m != nil {
				indent, name, body = n, m[2], m[3]
			}
		}
		if body != "" {
			help[name] = append(help[name], body)
		}
	}
	var out, without []string
	for _, x := range def.Args {
		text := help[x.Arg]
		if len(text) == 0 {
			without = append(without, x.Arg)
			text = []string{"not documented"}
		}
		c := p.command(x.Annotation)
		switch {
		case x.Star == "*" && x.Annotation == nil:
			c.text = "str"
		case c.text == "":
			p.fail(x, "argument %s: a command line cannot give a value of this type: take a str, list or dict", x.Arg)
		case isNone(x.Default):
			c.text = optional(c.text)
		}
		if c.short != "" && c.short != "-"+x.Arg {
			p.note(x.Line, "%s: the option %s becomes --%s", def.Name, c.short, x.Arg)
		}
		out = append(out, "    "+x.Star+x.Arg+" ("+c.text+"): "+text[0])
		for _, more := range text[1:] {
			out = append(out, "        "+more)
		}
	}
	if len(without) > 0 {
		p.hint(def.Line, "%s: not documented: %s", def.Name, strings.Join(without, ", "))
	}
	return out
}
