package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"torchx/starlark/component"
)

const source = `"""Trains <things>."""

NODES = 2

def train(*words, script, lr = [0.1, 0.2], nodes = NODES, mode = "a|b", k = 1):
    """Trains a model, 2*x + 3*x, with ` + "`torchrun --nnodes <N>`" + `.

    More about it:

    - a list
      of two lines
    - & more

        indented <as is>

    Args:
        *words (str): words
        script (path): the <script>
        lr (list[float]): rates
        nodes (int): nodes
        mode (enum("a|b", "c")): mode
        k (int): a short one
    """
    return specs.AppDef(name = "a")
`

func page(t *testing.T) Page {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.star"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := component.NewLoader(component.Config{Dir: dir}).Find(t.Context(), "t.star:train")
	if err != nil {
		t.Fatal(err)
	}
	e := Entry{c, c.Detail()}
	return Page{Name: "t", File: "t.star", Doc: e.Module, Components: []Entry{e}}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	text := Markdown(page(t))
	for _, want := range []string{
		Mark + "# t\n\nTrains &lt;things>.\n\nComponents of `t.star`.\n",
		"## t.star:train\n\nTrains a model, 2\\*x + 3\\*x, with `torchrun --nnodes <N>`.",
		"    torchx run t.star:train --script PATH [options] [--] [WORDS ...]\n",
		"| `--script` | `path` | **required** | the &lt;script> |\n",
		"| `--lr` | `list[float]` | `[0.1, 0.2]` | rates |\n",
		"| `--nodes` | `int` | `NODES` | nodes |\n",
		"| `--mode` | `enum(\"a\\|b\", \"c\")` | `\"a\\|b\"` | mode |\n",
		"| `-k` | `int` | `1` | a short one |\n",
		"| `words ...` | `str` |  | words |\n",
		"    indented <as is>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	index := Index([]Page{page(t)})
	if !strings.Contains(index, "| [t.star:train](t.md#tstartrain) | Trains a model, 2\\*x") {
		t.Error(index)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	text := HTML("A & B", []Page{page(t)})
	for _, want := range []string{
		"<title>A &amp; B</title>", "prefers-color-scheme: dark", `<article id="t.star:train">`, "<p>Trains &lt;things&gt;.</p>",
		"<code>torchrun --nnodes &lt;N&gt;</code>", "<li>a list of two lines</li>", "<li>&amp; more</li>", "<pre><code>    indented &lt;as is&gt;</code></pre>",
		`<td><em>required</em></td><td>the &lt;script&gt;</td>`, "<code>NODES</code>", "<details><summary>Source</summary>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if found := regexp.MustCompile(`(?i)(src|href)="(https?:|//)|@import|url\(`).FindString(text); found != "" {
		t.Errorf("the page loads something: %s", found)
	}
	if !strings.HasPrefix(text, "<!doctype html>\n") || strings.Count(text, "<article") != strings.Count(text, "</article>") {
		t.Error("the page is not well formed")
	}
}

// TestDeterministic checks that the same components give the same pages.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	p, again := page(t), page(t)
	if Markdown(p) != Markdown(again) || HTML("x", []Page{p}) != HTML("x", []Page{again}) {
		t.Error("two pages differ")
	}
}
