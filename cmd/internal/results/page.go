package results

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"torchx/cmd/internal/ui"
	"torchx/cmd/internal/ui/plot"
	"torchx/runtime/metrics"
)

// Sizes in columns and lines.
const (
	defaultHeight = 24 // of what is not a terminal
	minWidth      = 40
	maxWidth      = 300
	minPlot       = 10
	maxPlot       = 24
)

// screenSize returns the columns and lines for a page on a terminal.
func screenSize(screen *os.File) (width, height int) {
	width, height, err := term.GetSize(int(screen.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return ui.DefaultWidth, defaultHeight
	}
	return min(max(width, minWidth), maxWidth), height
}

func (v *view) ascii() bool { return plot.NeedsASCII(v.Env.Get) }

// page returns the lines of the table and of plots. Plots of names are all there, others as far as
// they fit into the height.
func (v *view) page(width, height int, onTerminal, plots bool) ([]string, error) {
	rows, curves := v.rows(), curves{}
	if plots {
		curves = v.readCurves()
	}
	tableWidth := 0
	if onTerminal {
		tableWidth = width
	}
	var text bytes.Buffer
	if err := v.table(rows, curves, tableWidth).Write(&text, v.OutStyle); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	if !plots {
		return lines, nil
	}
	names := v.plotted(height - len(lines))
	for _, name := range names {
		p, err := v.plotOf(name, curves)
		if err != nil {
			return nil, err
		}
		p.Width, p.Height = width, min(max((height-len(lines))/len(names)-1, minPlot), maxPlot)
		if len(names) > 1 {
			p.Height = max(min(height/len(names)-1, maxPlot), minPlot)
		}
		lines = append(append(lines, ""), strings.Split(strings.TrimSuffix(p.Text(), "\n"), "\n")...)
	}
	return lines, nil
}

// plotted returns the names to plot: those of the command line, else as many as fit into some
// lines, at least one.
func (v *view) plotted(lines int) []string {
	if len(v.names) > 0 {
		return v.names
	}
	known := v.known()
	return known[:min(len(known), max(1, lines/(minPlot+1)))]
}

// explainIssues warns of what the sources of the apps could not keep.
func (v *view) explainIssues() {
	for _, a := range v.apps {
		issues, err := metrics.Issues(a.dir)
		if err != nil {
			continue // load has reported it
		}
		for i := range issues {
			if text := issueText(&issues[i]); text != "" {
				v.Warn("%s", text)
			}
		}
	}
}

func issueText(i *metrics.Issue) string {
	var parts []string
	if i.Broken > 0 {
		parts = append(parts, fmt.Sprintf("%s could not be read", ui.Counted(int(i.Broken), "line")))
	}
	if i.Dropped > 0 {
		parts = append(parts, ui.Counted(int(i.Dropped), "value")+" of too many metrics are missing")
	}
	if len(parts) == 0 {
		return ""
	}
	kind, _ := sourceName(i.Source)
	text := fmt.Sprintf("%s/%d, source %s: %s", i.Role, i.Replica, kind, strings.Join(parts, ", "))
	if i.Reason != "" {
		text += ", the last one because of " + i.Reason
	}
	return text
}
