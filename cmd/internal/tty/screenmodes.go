package tty

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/cmd/internal/ui"
)

// ScreenModes tracks the xterm private modes that a program sets (ESC [ ? N h and l), such
// as the alternate screen (1049), mouse reports (1000 and others) and bracketed paste
// (2004). A client that detaches resets them for the shell.
type ScreenModes struct {
	on  map[string]bool // modes that the program set or reset
	seq []byte          // what follows ESC in an incomplete sequence
	in  bool            // seq is incomplete
}

// defaultModes are on until a program turns them off: wrapping and the cursor.
var defaultModes = []string{"7", "25"}

// maxSequence bounds the length of a sequence, in bytes.
const maxSequence = 32

// Observe reads the modes that output sets.
func (m *ScreenModes) Observe(p []byte) {
	for _, c := range p {
		switch {
		case c == 0x1b:
			m.in, m.seq = true, m.seq[:0]
		case !m.in:
		case len(m.seq) == 0 && c != '[', len(m.seq) == 1 && c != '?', len(m.seq) > maxSequence:
			m.in = false
		case c >= '@' && c != '[':
			m.in = false
			m.set(string(m.seq), c)
		default:
			m.seq = append(m.seq, c)
		}
	}
}

func (m *ScreenModes) set(seq string, how byte) {
	names, ok := strings.CutPrefix(seq, "[?")
	if !ok || how != 'h' && how != 'l' {
		return
	}
	if m.on == nil {
		m.on = map[string]bool{}
	}
	for name := range strings.SplitSeq(names, ";") {
		if len(m.on) < 100 {
			m.on[name] = how == 'h'
		}
	}
}

// Reset returns the sequences that reset the modes.
func (m *ScreenModes) Reset() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.on)) {
		first := slices.Contains(defaultModes, name)
		if m.on[name] == first {
			continue
		}
		how := "l"
		if first {
			how = "h"
		}
		fmt.Fprintf(&b, "\x1b[?%s%s", name, how)
	}
	if b.Len() > 0 {
		b.WriteString(ui.AnsiReset)
	}
	return b.String()
}
