package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// No help is wider than a small screen, but for what cannot be broken.
func TestHelpFitsTheScreen(t *testing.T) {
	t.Parallel()
	app := (&tool{}).commandLine()
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		for line := range strings.Lines(helpText(app, c.Name, 80)) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", c.Name, n, line)
			}
		}
	}
}

func TestUsageLines(t *testing.T) {
	t.Parallel()
	got := usageLines("usage: torchx x ", "A [-b B] [--long-one VALUE] -c", 30)
	want := "usage: torchx x A [-b B]\n                [--long-one VALUE]\n                -c\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
