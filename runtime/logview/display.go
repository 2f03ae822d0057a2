package logview

import (
	"bytes"
	"strconv"
	"strings"

	"torchx/runtime/backend"
)

// maxShown is the number of bytes that are kept of a line of a display.
const maxShown = 4 << 10

// display holds what a terminal would show of an output: text that later text overwrote is gone, and
// there are no escape sequences.
type display struct {
	lines   [][]byte
	cursors map[backend.Stream]*cursor
}

// cursor is where a stream writes next.
type cursor struct {
	row    int    // -1: a new line at the end
	below  int    // lines that the cursor has moved up
	back   bool   // it is at the start of its line: text replaces what is there
	escape []byte // the start of an escape sequence
}

// write adds output of a stream.
func (d *display) write(stream backend.Stream, data []byte) {
	c := d.cursors[stream]
	if c == nil {
		c = &cursor{row: -1}
		d.cursors[stream] = c
	}
	for _, b := range data {
		switch {
		case len(c.escape) > 0:
			if c.escape = append(c.escape, b); endsEscape(c.escape) {
				d.control(c, c.escape)
				c.escape = c.escape[:0]
			}
		case b == 0x1b:
			c.escape = append(c.escape, b)
		case b == '\n':
			d.newline(c)
		case b == '\r':
			c.back = true
		case b == '\b' && c.row >= 0:
			d.lines[c.row] = d.lines[c.row][:max(0, len(d.lines[c.row])-1)]
		case b >= ' ' || b == '\t':
			d.put(c, b)
		}
	}
}

func (d *display) newline(c *cursor) {
	if c.row < 0 {
		d.lines = append(d.lines, nil)
	}
	if c.row++; c.below == 0 || c.row == 0 {
		c.row = -1
	}
	c.below = max(0, c.below-1)
	c.back = false
}

// put writes a byte of text.
func (d *display) put(c *cursor, b byte) {
	switch {
	case c.row < 0:
		d.lines, c.row = append(d.lines, nil), len(d.lines)
	case c.back:
		d.lines[c.row] = d.lines[c.row][:0]
	}
	c.back = false
	if len(d.lines[c.row]) < maxShown {
		d.lines[c.row] = append(d.lines[c.row], b)
	}
}

// maxEscape bounds an escape sequence; longer text is something else.
const maxEscape = 4 << 10

// endsEscape reports whether a sequence that began with ESC is complete: CSI, OSC, or two bytes.
func endsEscape(e []byte) bool {
	last := e[len(e)-1]
	switch {
	case len(e) < 2:
		return false
	case len(e) == maxEscape:
		return true
	case e[1] == '[':
		return len(e) > 2 && last >= '@' && last <= '~'
	case bytes.IndexByte([]byte("]PX^_"), e[1]) >= 0:
		return last == '\a' || bytes.HasSuffix(e, []byte("\x1b\\"))
	}
	return last < ' ' || last > '/'
}

// control does what redraws progress bars: CSI A and F move up, B and E down, K and J erase.
func (d *display) control(c *cursor, e []byte) {
	if e[1] != '[' {
		return
	}
	n, err := strconv.Atoi(string(e[2 : len(e)-1]))
	switch e[len(e)-1] {
	case 'A', 'F':
		d.up(c, max(1, n))
	case 'B', 'E':
		for range min(max(1, n), c.below) {
			d.newline(c)
		}
		c.back = true
	case 'K', 'J':
		if c.row >= 0 && (c.back || n > 0 && err == nil) {
			d.lines[c.row] = d.lines[c.row][:0]
		}
	}
}

func (d *display) up(c *cursor, n int) {
	if c.row < 0 {
		c.row = len(d.lines)
	}
	n = min(n, c.row)
	if c.back = true; n == 0 && c.row == len(d.lines) {
		c.row = -1
		return
	}
	c.row -= n
	c.below += n
}

// text returns the lines, without empty ones at the end.
func (d *display) text() []string {
	lines := make([]string, len(d.lines))
	for i, line := range d.lines {
		lines[i] = strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), " \t")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
