package pages

import (
	"html"
	"net/url"
	"strings"
	"unicode"
)

// A span is a part of a line: text, or code from between backquotes.
type span struct {
	text string
	code bool
}

// spans splits a line at its backquotes like CommonMark: code ends with as many backquotes as it
// begins.
func spans(s string) []span {
	var out []span
	for s != "" {
		from := strings.IndexByte(s, '`')
		if from < 0 {
			return append(out, span{s, false})
		}
		rest := strings.TrimLeft(s[from:], "`")
		quotes := s[from : len(s)-len(rest)]
		end := closing(rest, quotes)
		if end < 0 {
			out = append(out, span{s[:from] + quotes, false})
			s = rest
			continue
		}
		out = append(out, span{s[:from], false}, span{strings.TrimSpace(rest[:end]), true})
		s = rest[end+len(quotes):]
	}
	return out
}

// closing returns the offset of a run of exactly these backquotes, or -1.
func closing(s, quotes string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == len(quotes) {
			return at
		}
		at += run
	}
}

// inline returns a line as HTML; text in backquotes is code.
func inline(s string) string {
	var b strings.Builder
	for _, p := range spans(s) {
		if p.code {
			b.WriteString("<code>" + html.EscapeString(p.text) + "</code>")
		} else {
			b.WriteString(html.EscapeString(p.text))
		}
	}
	return b.String()
}

// escapeText returns a line as Markdown, with all markup except backquotes escaped.
func escapeText(s string) string {
	var b strings.Builder
	for _, p := range spans(oneLine(s)) {
		if p.code {
			b.WriteString(code(p.text))
		} else {
			escape(&b, p.text)
		}
	}
	return b.String()
}

// escape escapes text of a line. CommonMark allows a backslash before any punctuation, and an
// unescaped underscore inside a word.
func escape(b *strings.Builder, s string) {
	for i, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&' && i+1 < len(s) && (s[i+1] == '#' || isWord(rune(s[i+1]))):
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*", r),
			r == ']' && (i+1 == len(s) || strings.IndexByte("([:", s[i+1]) >= 0), // a link or its definition
			r == '~' && strings.Contains(s[max(0, i-1):min(len(s), i+2)], "~~"),
			r == '_' && (i == 0 || !isWord(rune(s[i-1])) || i+1 >= len(s) || !isWord(rune(s[i+1]))):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
}

func isWord(r rune) bool { return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// escapeCell returns a line as a table cell.
func escapeCell(s string) string {
	var b strings.Builder
	for _, p := range spans(oneLine(s)) {
		if p.code {
			b.WriteString(codeCell(p.text))
			continue
		}
		var text strings.Builder
		escape(&text, p.text)
		b.WriteString(strings.ReplaceAll(text.String(), "|", `\|`))
	}
	return b.String()
}

// code returns text in backquotes, more of them than it has in a row.
func code(s string) string {
	s = oneLine(s)
	quotes := "`"
	for strings.Contains(s, quotes) {
		quotes += "`"
	}
	if s == "" || s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return quotes + s + quotes
}

// codeCell returns code as a table cell. A bar after a backslash would end the cell, because tables
// are split before code is parsed.
func codeCell(s string) string {
	if strings.Contains(s, `\|`) {
		var b strings.Builder
		escape(&b, oneLine(s))
		return "<code>" + strings.ReplaceAll(b.String(), "|", "&#124;") + "</code>"
	}
	return strings.ReplaceAll(code(s), "|", `\|`)
}

// oneLine replaces line ends, so that the text cannot begin a new block.
func oneLine(s string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// listEnd separates a list from indented text below, which would otherwise belong to the list.
const listEnd = "<!-- -->\n\n"

// escapeProse returns a docstring as Markdown: paragraphs, lists and indented blocks, which are code.
func escapeProse(doc string) string {
	var out []string
	wasList := false
	for _, block := range blocks(doc) {
		switch block.kind {
		case listBlock:
			for i, l := range block.lines {
				block.lines[i] = "- " + escapeText(l)
			}
		case codeBlock:
			block.lines = indented(block.lines)
			if wasList {
				block.lines[0] = listEnd + block.lines[0]
			}
		case textBlock:
			for i, l := range block.lines {
				block.lines[i] = escapeStart(escapeText(strings.TrimSpace(l)))
			}
		}
		wasList = block.kind == listBlock
		out = append(out, strings.Join(block.lines, "\n"))
	}
	if wasList { // an indented usage line follows
		out = append(out, strings.TrimSpace(listEnd))
	}
	return strings.Join(out, "\n\n")
}

// indented indents lines so far that all of them are code.
func indented(lines []string) []string {
	margin := 4
	for _, l := range lines {
		margin = min(margin, len(l)-len(strings.TrimLeft(l, " ")))
	}
	for i := range lines {
		lines[i] = strings.Repeat(" ", 4-margin) + lines[i]
	}
	return lines
}

// escapeStart escapes the start of a line that would begin a heading, quote, list, rule or table.
func escapeStart(line string) string {
	digits := line[:len(line)-len(strings.TrimLeft(line, "0123456789"))]
	switch rest := line[len(digits):]; {
	case rest == "" || digits == "" && !strings.ContainsRune("#>+-=~|", rune(rest[0])) ||
		digits != "" && rest[0] != '.' && rest[0] != ')':
		return line
	default:
		return digits + `\` + rest
	}
}

// heading returns the text of a heading; an unescaped # could end it.
func heading(s string) string { return strings.ReplaceAll(escapeText(s), "#", `\#`) }

// link returns the relative URL of a page in the same folder. It has no scheme.
func link(name string) string {
	escaped := url.PathEscape(name) + ".md"
	if strings.Contains(escaped, ":") {
		return "./" + escaped
	}
	return escaped
}
