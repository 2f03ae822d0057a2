package ui

import "strings"

// labelColumns is the least width of labels, so that pages of several apps line up.
const labelColumns = len("Component")

// Fields are labels with values. Labels are right-aligned, so that "Label: value" can be
// searched for. Values that do not fit are wrapped beside their label.
type Fields []Field

// Field is a label with its value; Color is that of the value's first word.
type Field struct{ Label, Value, Color string }

// Add adds a field, unless the value is empty. Newlines in the value are kept.
func (fs *Fields) Add(label, value string) { fs.AddColored(label, value, "") }

// AddColored adds a field whose first word has a color.
func (fs *Fields) AddColored(label, value, color string) {
	if value != "" {
		*fs = append(*fs, Field{label, value, color})
	}
}

// Text returns the fields, one or more lines each. A width of 0 wraps nothing.
func (fs Fields) Text(width int, s Style) string {
	column := labelColumns
	for _, f := range fs {
		column = max(column, len(f.Label))
	}
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(strings.Repeat(" ", column-len(f.Label)) + s.Paint(AnsiDim, f.Label+":") + " ")
		for i, line := range wrapWithin(f.Value, width, column+2) {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", column+2))
			} else if f.Color != "" {
				line = s.paintWord(f.Color, line)
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// paintWord paints the first word of a line.
func (s Style) paintWord(color, line string) string {
	n := strings.IndexAny(line, " :")
	if n < 0 {
		n = len(line)
	}
	return s.Paint(color, line[:n]) + line[n:]
}

// Indent returns text with every line indented, and wrapped to a width with deeper
// continuation lines; a width of 0 wraps nothing.
func Indent(text string, width, columns int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		for i, part := range wrapWithin(line, width, columns+2) {
			b.WriteString(strings.Repeat(" ", columns+min(i, 1)*2) + part + "\n")
		}
	}
	return b.String()
}

// wrapWithin returns the lines of text for a screen whose first columns are taken.
func wrapWithin(text string, width, columns int) []string {
	if width == 0 {
		return strings.Split(text, "\n")
	}
	return WrapText(text, max(width-columns, 20))
}
