package ui

// PrintTable writes a table to stdout. On a terminal it first calls fit, if not nil, with the
// width of the terminal.
func (c *Console) PrintTable(t *Table, fit func(width int)) error {
	if width := ScreenWidth(c.Out); width > 0 && fit != nil {
		fit(width)
	}
	return t.Write(c.Out, c.OutStyle)
}
