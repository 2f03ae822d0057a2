package manual

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/docs"
)

func TestTerminalText(t *testing.T) {
	t.Parallel()
	const markdown = `# Title

    torchx log HANDLE

<!-- not shown -->
Words of a **paragraph** that
are joined and wrapped.

- an item, see [logs](../howto/logs.md#x)
  or [RE2](https://re2.dev)

| message | meaning | what to do |
|---|---|---|
| ` + "`a\\|b`" + ` | a reason | a remedy |

` + "```console\n$ # a comment\n```\n"
	const want = `Title

    torchx log HANDLE

Words of a paragraph that are
joined and wrapped.

- an item, see logs (` + "`torchx" + `
  help logs` + "`" + `) or RE2
  (https://re2.dev)

` + "`a|b`" + `
    meaning: a reason
    what to do: a remedy

    $ # a comment
`
	if got := terminalText(markdown, 30, ui.Style{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPagesFit: the text of every page fits a terminal of 80 columns; only code may be wider.
func TestPagesFit(t *testing.T) {
	t.Parallel()
	all, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range all {
		for line := range strings.Lines(terminalText(topic.Text, 80, ui.Style{})) {
			isCode := strings.HasPrefix(line, "    ")
			isWord := !strings.Contains(strings.TrimSpace(line), " ")
			if !isCode && !isWord && ui.TextWidth(strings.TrimSpace(line)) > 80 {
				t.Errorf("%s: %q is wider than 80 columns", topic.Name, line)
			}
		}
	}
}
