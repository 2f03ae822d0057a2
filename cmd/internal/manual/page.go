package manual

import (
	"path"
	"regexp"
	"strings"

	"torchx/cmd/internal/ui"
)

// maxWidth is the widest text of a page, in columns: longer lines are hard to read.
const maxWidth = 100

// page renders Markdown for a terminal: paragraphs, list items and cells of tables are wrapped,
// a row of a table is its first cell with the others below, code stays as it is.
type page struct {
	out   strings.Builder
	width int
	text  []string // lines of the current paragraph or list item
	head  []string // cells of the current table's head, nil outside of tables
	style ui.Style
}

var (
	markdownLink = `!?\[([^\]]*)\]\(([^)]*)\)`
	listItem     = `^(-|\d+\.) `
)

// terminalText renders a page of the manual.
func terminalText(markdown string, width int, style ui.Style) string {
	p := &page{width: min(width, maxWidth), style: style}
	isCode := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			p.flush()
			isCode = !isCode
		case isCode:
			p.line("    " + line)
		default:
			p.prose(line)
		}
	}
	p.flush()
	return p.out.String()
}

// prose takes a line outside of fenced code.
func (p *page) prose(line string) {
	heading, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
	switch {
	case strings.HasPrefix(line, "<!--"):
	case strings.HasPrefix(line, "|"):
		p.row(cells(line))
	case line == "", strings.HasPrefix(line, "    "):
		p.flush()
		p.line(line)
	case isHeading && line[0] == '#':
		p.flush()
		p.line(p.style.Paint(ui.AnsiBold, heading))
	default:
		if regexp.MustCompile(listItem).MatchString(line) {
			p.flush()
		}
		p.text = append(p.text, strings.TrimSpace(line))
	}
}

// flush writes the current paragraph or list item and ends the current table.
func (p *page) flush() {
	text := strings.Join(p.text, " ")
	p.text, p.head = nil, nil
	if text == "" {
		return
	}
	indent := strings.Repeat(" ", len(regexp.MustCompile(listItem).FindString(text)))
	p.wrapped(text, "", indent)
}

// row takes a row of a table. The first row is the head.
func (p *page) row(row []string) {
	switch {
	case p.head == nil:
		p.flush()
		p.head = row
	case strings.Trim(strings.Join(row, ""), "-: ") == "": // the line below the head
	default:
		p.wrapped(row[0], "", "  ")
		for i, cell := range row[1:] {
			if len(row) > 2 && cell != "" && i+1 < len(p.head) && p.head[i+1] != "" {
				cell = p.head[i+1] + ": " + cell
			}
			if cell != "" {
				p.wrapped(cell, "    ", "      ")
			}
		}
	}
}

// cells splits a row of a table.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	row := strings.Split(line, "|")
	for i, cell := range row {
		row[i] = strings.NewReplacer("\x00", "|", "&lt;", "<").Replace(strings.TrimSpace(cell))
	}
	return row
}

// wrapped writes a text with the indents of its first line and of the others.
func (p *page) wrapped(text, first, rest string) {
	text = regexp.MustCompile(markdownLink).ReplaceAllStringFunc(text, linkText)
	text = strings.ReplaceAll(text, "**", "")
	indent := first
	for _, line := range ui.WrapText(text, p.width-len(rest)) {
		p.line(indent + line)
		indent = rest
	}
}

func (p *page) line(text string) { p.out.WriteString(strings.TrimRight(text, " ") + "\n") }

// linkText returns a link as text with what to type or open: TEXT (torchx help TOPIC).
func linkText(link string) string {
	m := regexp.MustCompile(markdownLink).FindStringSubmatch(link)
	file, _, _ := strings.Cut(m[2], "#")
	switch topic, isPage := strings.CutSuffix(path.Base(file), ".md"); {
	case strings.Contains(m[2], "://"):
		return m[1] + " (" + m[2] + ")"
	case isPage && file != "" && topic != "README" && topic != "ARCHITECTURE":
		return m[1] + " (`torchx help " + topic + "`)"
	}
	return m[1]
}
