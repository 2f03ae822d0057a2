package component

import (
	"strings"
)

// Doc is a parsed google-style docstring.
type Doc struct {
	Text string   // without the sections on arguments and results
	Args []DocArg // the entries of its Args section, each name once

	byName map[string]int // index in Args
}

// Arg returns the entry of a parameter, if it has one.
func (d Doc) Arg(name string) (DocArg, bool) {
	i, ok := d.byName[name]
	if !ok {
		return DocArg{}, false
	}
	return d.Args[i], true
}

// DocArg is an entry `name (type): text` of an Args section.
type DocArg struct {
	Name string // without stars
	Type string // as written, may be empty
	Help string // one line
	Line int    // of the entry, counted from 0 at the opening quotes
}

var (
	argsHeaders  = map[string]bool{"args": true, "arguments": true, "parameters": true, "params": true}
	otherHeaders = map[string]bool{"returns": true, "return": true, "yields": true, "raises": true}
)

// ParseDoc parses a docstring. It never fails: everything outside of sections and entries is text.
func ParseDoc(doc string) Doc {
	var p docParser
	for i, line := range dedent(doc) {
		p.line(i, line)
	}
	p.endEntry()
	p.result.Text = strings.Trim(strings.Join(p.text, "\n"), "\n ")
	p.lastOfEach()
	return p.result
}

// lastOfEach keeps the last entry of each name.
func (p *docParser) lastOfEach() {
	last := map[string]int{}
	for i, a := range p.result.Args {
		last[a.Name] = i
	}
	var kept []DocArg
	p.result.byName = last
	for i, a := range p.result.Args {
		if last[a.Name] == i {
			last[a.Name] = len(kept)
			kept = append(kept, a)
		}
	}
	p.result.Args = kept
}

// dedent removes the indentation that all lines but the first share, as Python does. It keeps the
// number of lines.
func dedent(doc string) []string {
	lines := strings.Split(strings.ReplaceAll(doc, "\r\n", "\n"), "\n")
	margin := -1
	for i, line := range lines {
		line = strings.TrimRight(expandTabs(line), " \t\r\f\v")
		lines[i] = line
		if i > 0 && line != "" {
			if n := indentation(line); margin < 0 || n < margin {
				margin = n
			}
		}
	}
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = strings.TrimLeft(line, " ")
		case line != "":
			lines[i] = line[margin:]
		}
	}
	return lines
}

// expandTabs replaces leading tabs by spaces, with tab stops every 8 columns as in Python.
func expandTabs(line string) string {
	body := strings.TrimLeft(line, " \t")
	width := 0
	for _, c := range line[:len(line)-len(body)] {
		if c == '\t' {
			width += 8 - width%8
		} else {
			width++
		}
	}
	return strings.Repeat(" ", width) + body
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// section is the part of a docstring that a line belongs to.
type section int

const (
	inText section = iota
	inArgs
	inOther
)

type docParser struct {
	result  Doc
	text    []string
	section section
	// indent is the indentation of the first entry of the Args section, -1 before it.
	indent int
	// loose is set if the header follows the opening quotes, so that its indentation is unknown.
	loose bool

	entry DocArg // the current entry; no name means none
	help  []string
}

func (p *docParser) line(number int, line string) {
	indent := indentation(line)
	body := line[indent:]
	if header, ok := headerName(line); ok && indent == 0 {
		p.endEntry()
		p.section, p.indent, p.loose = inOther, -1, number == 0
		if argsHeaders[header] {
			p.section = inArgs
		}
		return
	}
	if p.section != inText && indent == 0 && body != "" && !p.loose {
		p.endEntry()
		p.section = inText
	}
	switch p.section {
	case inText:
		p.text = append(p.text, line)
	case inArgs:
		p.argsLine(number, indent, body)
	}
}

// headerName returns the lower-case name of a known section header.
func headerName(line string) (string, bool) {
	name, ok := strings.CutSuffix(line, ":")
	name = strings.ToLower(name)
	return name, ok && (argsHeaders[name] || otherHeaders[name])
}

// argsLine reads a line of an Args section: a new entry, or a continuation of the last one.
func (p *docParser) argsLine(number, indent int, body string) {
	if body == "" {
		return
	}
	if p.indent < 0 || indent < p.indent {
		p.indent = indent
	}
	if indent == p.indent {
		if name, kind, help, ok := parseEntry(body); ok {
			p.endEntry()
			p.entry, p.help = DocArg{Name: name, Type: kind, Line: number}, []string{help}
			return
		}
	}
	p.help = append(p.help, body)
}

func (p *docParser) endEntry() {
	if p.entry.Name != "" {
		p.entry.Help = strings.Join(strings.Fields(strings.Join(p.help, " ")), " ")
		p.result.Args = append(p.result.Args, p.entry)
	}
	p.entry, p.help = DocArg{}, nil
}

// parseEntry reads `name (type): help`. The type may contain parentheses.
func parseEntry(body string) (name, kind, help string, ok bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(body, "*"), "*")
	end := identifierLen(rest)
	if end == 0 {
		return "", "", "", false
	}
	name, rest = rest[:end], strings.TrimLeft(rest[end:], " \t\n\f\r")
	if strings.HasPrefix(rest, "(") {
		stop := closingParenthesis(rest)
		if stop < 0 {
			return "", "", "", false
		}
		kind, rest = strings.TrimSpace(rest[1:stop]), strings.TrimLeft(rest[stop+1:], " \t")
	}
	help, ok = strings.CutPrefix(rest, ":")
	return name, kind, strings.TrimSpace(help), ok
}

// closingParenthesis returns the offset of the parenthesis that closes text[0], or -1. It skips
// quoted text; a single quote is an apostrophe.
func closingParenthesis(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'':
			i += max(strings.IndexByte(text[i+1:], c)+1, 0)
		}
	}
	return -1
}
