package manual

import (
	"html"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/lazyregexp"
)

var (
	markdownComment = lazyregexp.New(`^<!--.*-->$`)
	markdownLink    = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)
	markdownItem    = lazyregexp.New(`^\s*(-|\d+\.) `)
	markdownRule    = lazyregexp.New(`^\|[-| :]+\|?$`)
)

// terminalPage renders Markdown for a terminal.
type terminalPage struct {
	strings.Builder
	style     ui.Style
	width     int
	isCode    bool     // between fences
	paragraph []string // lines of the current paragraph or list item
	columns   []string // heads of the current table
}

// terminalText renders Markdown for a terminal of a width: without comments and fences,
// links as their text, headings in bold, rows of tables as entries like those of help.
func terminalText(markdown string, style ui.Style, width int) string {
	p := &terminalPage{style: style, width: width}
	for line := range strings.Lines(markdown) {
		p.line(strings.TrimRight(line, "\n"))
	}
	p.endParagraph()
	return p.String()
}

func (p *terminalPage) line(line string) {
	heading := strings.TrimLeft(line, "#")
	isRow := !p.isCode && strings.HasPrefix(line, "|")
	if !isRow {
		p.columns = nil
	}
	switch {
	case strings.HasPrefix(line, "```"):
		p.endParagraph()
		p.isCode = !p.isCode
	case p.isCode:
		p.WriteString("    " + line + "\n")
	case markdownComment().MatchString(line):
	case isRow:
		p.endParagraph()
		p.row(line)
	case heading != line && strings.HasPrefix(heading, " "):
		p.endParagraph()
		p.WriteString(p.style.Paint(ui.AnsiBold, strings.TrimSpace(heading)) + "\n")
	case strings.TrimSpace(line) == "", len(p.paragraph) == 0 && strings.HasPrefix(line, "    "):
		p.endParagraph()
		p.WriteString(line + "\n")
	default:
		if markdownItem().MatchString(line) {
			p.endParagraph()
		}
		p.paragraph = append(p.paragraph, plainText(line))
	}
}

// endParagraph prints the current paragraph; lines after the first of a list item are
// indented.
func (p *terminalPage) endParagraph() {
	if len(p.paragraph) == 0 {
		return
	}
	mark := markdownItem().FindString(p.paragraph[0])
	indent := strings.Repeat(" ", len(mark))
	text := strings.Join(p.paragraph, " ")[len(mark):]
	for i, line := range ui.WrapText(text, p.width-len(mark)) {
		if i == 0 {
			p.WriteString(mark + line + "\n")
		} else {
			p.WriteString(indent + line + "\n")
		}
	}
	p.paragraph = nil
}

// row prints a row of a table: its first cell as the label of the others, which get the
// heads of their columns if there are several.
func (p *terminalPage) row(line string) {
	cells := tableCells(line)
	switch {
	case p.columns == nil:
		p.columns = cells
		return
	case markdownRule().MatchString(line):
		return
	}
	var text []string
	for i, cell := range cells[1:] {
		if i+1 < len(p.columns) && len(cells) > 2 && cell != "" && p.columns[i+1] != "" {
			cell = p.columns[i+1] + ": " + cell
		}
		if cell != "" {
			text = append(text, cell)
		}
	}
	label := ui.WrapText(cells[0], p.width-2)
	for _, line := range label[:len(label)-1] {
		p.WriteString("  " + line + "\n")
	}
	program.HelpEntry(&p.Builder, label[len(label)-1], strings.Join(text, "; "), p.width)
}

func tableCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, cell := range cells {
		cells[i] = plainText(strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
	}
	return cells
}

// plainText returns a line without the markup of links and entities.
func plainText(line string) string {
	return html.UnescapeString(markdownLink().ReplaceAllString(line, "$1"))
}
