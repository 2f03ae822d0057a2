package manual

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/docs"
)

func TestTerminalText(t *testing.T) {
	t.Parallel()
	got := terminalText(`# Title

<!-- not run: x -->
A [link](x.md) in a paragraph
of two lines, which is wrapped.
- one item that is longer than a line
- two

    code  [kept](x)

| option | type | meaning |
|---|---|---|
| `+"`a`"+` | str | x \| y &lt;z> |

`+"```sh\n# no heading\n```\n", ui.Style{}, 60)
	want := `Title

A link in a paragraph of two lines, which is wrapped.
- one item that is longer than a line
- two

    code  [kept](x)

  ` + "`a`" + `                     type: str; meaning: x | y <z>

    # no heading
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTopicsFitTheScreen: prose and tables of all pages fit 80 columns.
func TestTopicsFitTheScreen(t *testing.T) {
	t.Parallel()
	all, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range all {
		for line := range strings.Lines(terminalText(topic.Text, ui.Style{}, 80)) {
			line = strings.TrimRight(line, "\n")
			isBroken := strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(line, "    ")
			if n := ui.TextWidth(line); n > 80 && isBroken {
				t.Errorf("%s: got %d columns, want at most 80: %s", topic.Name, n, line)
			}
		}
	}
}
