package pages

import (
	"strings"
	"testing"

	"torchx/starlark/component"
)

func TestEscapeText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain, 2*x - 1_000 & num_replicas": `plain, 2\*x - 1_000 & num_replicas`,
		"`code <b>` and ``a ` b``":          "`code <b>` and ``a ` b``",
		"\\`<script>alert(1)</script>\\`":   "\\\\`<script>alert(1)</script>\\`",
		"one ` alone <b>":                   "one \\` alone &lt;b>",
		"``never closed` <b>":               "\\`\\`never closed\\` &lt;b>",
		"[x](javascript:alert(1))":          `[x\](javascript:alert(1))`,
		"![x](https://tracker/x.png)":       `![x\](https://tracker/x.png)`,
		"[MIN:]NODES [a, b] [x][y] [z]":     `[MIN:]NODES [a, b] [x\][y] [z\]`,
		"<https://auto> <javascript:x>":     "&lt;https://auto> &lt;javascript:x>",
		"&lt;script&gt; &#60; a & b &":      "&amp;lt;script&amp;gt; &amp;#60; a & b &",
		"_em_ __strong__ ~~gone~~ a~b":      `\_em\_ \_\_strong\_\_ \~\~gone\~\~ a~b`,
		"a\n# b\r\n<c>":                     "a # b &lt;c>",
		`back\slash \<b>`:                   `back\\slash \\&lt;b>`,
	} {
		if got := escapeText(in); got != want {
			t.Errorf("escapeText(%q)\n got %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"a|b": `a\|b`, `a\|<b>`: `a\\\|&lt;b>`, "`a|b`": "`a\\|b`", "`a\\|<b>`": `<code>a\\&#124;&lt;b></code>`} {
		if got := escapeCell(in); got != want {
			t.Errorf("escapeCell(%q)\n got %s\nwant %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "`  `", "a": "`a`", "`": "`` ` ``", "a``b": "```a``b```", "a\nb": "`a b`"} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEscapeProse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"# no heading\nsecond\n===":       "\\# no heading\nsecond\n\\===",
		"> quote\n+ item\n1. one\n2) two": "\\> quote\n\\+ item\n1\\. one\n2\\) two",
		"text\n---\n***\n___":             "text\n\\---\n\\*\\*\\*\n\\_\\_\\_",
		"```\n<b>\n```":                   "\\`\\`\\`\n&lt;b>\n\\`\\`\\`",
		"~~~\n<b>":                        "\\~\\~\\~\n&lt;b>",
		"a | b\n|---|":                    "a | b\n\\|---|",
		"text\n    <b>lazy</b>":           "text\n&lt;b>lazy&lt;/b>",
		" <b>\n   <i>":                    "    <b>\n      <i>",
		"    <b>\n<i>":                    "        <b>\n    <i>",
		"\t<b>\r<i>":                      "    \t<b>\n    <i>",
		"- a <b>\n  - c\n\n    <pre>":     "- a &lt;b> - c\n\n<!-- -->\n\n    <pre>",
		"* [a]: javascript:x":             "- [a\\]: javascript:x\n\n<!-- -->",
		"a\n\n\n\nb":                      "a\n\nb",
		"<!-- a\n\n-->":                   "&lt;!-- a\n\n\\-->",
	} {
		if got := escapeProse(in); got != want {
			t.Errorf("escapeProse(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestHostilePage checks that markup in a file's name, a parameter or a default is escaped.
func TestHostilePage(t *testing.T) {
	t.Parallel()
	e := Entry{Component: &component.Component{
		Name: "<img src=x>#\n.star:f", Doc: "- list", Params: []component.Param{
			{Name: "ä", Default: "`|<script>`\\|<i>", Type: component.Type{Kind: component.Enum, Choices: []string{"a`|b", "<u>"}}, Help: "a | b\n<b>"},
		},
	}}
	p := Page{Name: "javascript:alert(1) <x>", File: "a`<b>`.star", Doc: "[click](javascript:x)", Components: []Entry{e}}
	checkHarmless(t, strings.TrimPrefix(Markdown(p), Mark))
	index := Index([]Page{p})
	checkHarmless(t, strings.TrimPrefix(index, Mark))
	if want := "](./javascript:alert%281%29%20%3Cx%3E.md"; strings.Count(index, want) != 2 {
		t.Errorf("got index\n%s\nwant the links %s", index, want)
	}
}

// checkHarmless parses Markdown like CommonMark: outside of code there must be no tag and no entity.
func checkHarmless(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") || line == strings.TrimLeft(listEnd, "\n")[:len("<!-- -->")]+"\n" {
			continue
		}
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '`':
				rest := strings.TrimLeft(line[i:], "`")
				quotes := line[i : len(line)-len(rest)]
				if end := closing(rest, quotes); end >= 0 {
					i = len(line) - len(rest) + end + len(quotes) - 1
				} else {
					i += len(quotes) - 1
				}
			case '<':
				if !strings.HasPrefix(line[i:], "<code>") && !strings.HasPrefix(line[i:], "</code>") {
					t.Errorf("a tag in %q", line)
				}
			}
		}
	}
}

// FuzzMarkdown checks that no docstring can add markup to a page.
func FuzzMarkdown(f *testing.F) {
	f.Add("\\`<script>\\` `<b>`", "a|b\\|<i>")
	f.Add("- a\n\n    <pre>\n<b>", "`")
	f.Add("text\n    <b>\r<c>", "``a` <b>")
	f.Fuzz(func(t *testing.T, doc, cell string) {
		checkHarmless(t, escapeProse(doc)+"\n")
		checkHarmless(t, "| "+escapeCell(cell)+" | "+codeCell(cell)+" |\n")
		if got := escapeCell(cell) + codeCell(cell); strings.ContainsAny(got, "\r\n") {
			t.Errorf("%q has several lines", got)
		}
	})
}
