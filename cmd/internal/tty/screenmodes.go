package tty

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/cmd/internal/ui"
)

// ScreenModes follows what a program does to the screen it is shown on: the
// "private modes" of xterm (ESC [ ? N h and l), such as the second screen (1049),
// the reports of the mouse (1000 and others) or marked pastes (2004). Who leaves a
// program takes them back, or the shell would be left with them.
type ScreenModes struct {
	on  map[string]bool // as the program set them
	seq []byte          // of a sequence that is not over, what follows ESC
	in  bool            // within a sequence
}

// Modes that are on until a program turns them off: wrapping, and the cursor.
var modesOnAtFirst = []string{"7", "25"}

// maxSequence bounds what is taken for a sequence.
const maxSequence = 32

// See looks at output.
func (m *ScreenModes) See(p []byte) {
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

// Undo is what to write to have the screen as it was.
func (m *ScreenModes) Undo() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.on)) {
		first := slices.Contains(modesOnAtFirst, name)
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
