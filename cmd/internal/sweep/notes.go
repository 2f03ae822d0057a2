package sweep

import (
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// maxNotes bounds the lines about trials, each of which may have its own.
const maxNotes = 20

// notes prints the warnings and notes of plans, each once.
type notes struct {
	*ui.Console
	seen map[string]bool
}

func newNotes(c *ui.Console) *notes { return &notes{c, map[string]bool{}} }

func (n *notes) add(p *runner.Planned) {
	for _, w := range p.Warnings {
		n.say(n.Warn, w)
	}
	for _, text := range p.Plan.Notes {
		n.say(n.Say, text)
	}
}

func (n *notes) say(print func(format string, args ...any), text string) {
	if n.seen[text] {
		return
	}
	if n.seen[text] = true; len(n.seen) <= maxNotes {
		print("%s", text)
	}
}

// end says how many lines were left out.
func (n *notes) end() {
	if more := len(n.seen) - maxNotes; more > 0 {
		n.Say("%s about trials not shown", ui.Counted(more, "line"))
	}
}
