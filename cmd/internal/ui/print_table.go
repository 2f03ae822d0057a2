package ui

// PrintTable writes a table to stdout. On a terminal it calls fit, unless that is nil, with
// the width of the terminal first.
func (c *Console) PrintTable(t *Table, fit func(width int)) error {
	if width := ScreenWidth(c.Out); width > 0 && fit != nil {
		fit(width)
	}
	return t.Write(c.Out, c.OutStyle)
}
