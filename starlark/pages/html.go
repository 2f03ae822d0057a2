package pages

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

// The style sheet and the script of the page.
var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// HTML returns a self-contained page with all components. It supports the light and dark mode of
// the browser.
func HTML(title string, pages []Page) string {
	var b strings.Builder
	t := html.EscapeString(title)
	fmt.Fprintf(&b, "<!doctype html>\n%s<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"+
		"<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n", Mark, t, style)
	writeNav(&b, t, pages)
	b.WriteString("<main>\n")
	for i, p := range pages {
		writePage(&b, p, i)
	}
	fmt.Fprintf(&b, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", script)
	return b.String()
}

// writeNav writes the list of all components, with a field to filter it.
func writeNav(b *strings.Builder, title string, pages []Page) {
	fmt.Fprintf(b, "<nav>\n<h1>%s</h1>\n<input id=\"filter\" type=\"search\" placeholder=\"Filter ( / )\" aria-label=\"Filter components\">\n", title)
	for i, p := range pages {
		fmt.Fprintf(b, "<section>\n<h2><a href=\"#file-%d\">%s</a></h2>\n<ul>\n", i,
			html.EscapeString(p.Name))
		for _, e := range p.Components {
			fmt.Fprintf(b, "<li><a href=\"#%s\" title=\"%s\">%s</a></li>\n", html.EscapeString(e.Name), html.EscapeString(summary(e.Doc)), html.EscapeString(e.Name))
		}
		b.WriteString("</ul>\n</section>\n")
	}
	b.WriteString("</nav>\n")
}

func writePage(b *strings.Builder, p Page, number int) {
	fmt.Fprintf(b, "<header id=\"file-%d\">\n<h2>%s</h2>\n<p class=\"file\">%s</p>\n", number,
		html.EscapeString(p.Name), html.EscapeString(p.File))
	prose(b, p.Doc)
	b.WriteString("</header>\n")
	for _, e := range p.Components {
		writeEntry(b, e)
	}
}

func writeEntry(b *strings.Builder, e Entry) {
	name := html.EscapeString(e.Name)
	fmt.Fprintf(b, "<article id=\"%s\">\n<h3><a href=\"#%s\">%s</a></h3>\n", name, name, name)
	prose(b, e.Doc)
	fmt.Fprintf(b, "<pre class=\"usage\"><code>%s</code></pre>\n", html.EscapeString(e.usage()))
	if len(e.Params) > 0 {
		b.WriteString("<div class=\"wide\"><table>\n<thead><tr><th>Argument</th><th>Type</th><th>Default</th><th></th></tr></thead>\n<tbody>\n")
		for i := range e.Params {
			p := &e.Params[i]
			value := ""
			switch {
			case p.Required:
				value = "<em>required</em>"
			case !p.Variadic:
				value = "<code>" + html.EscapeString(e.value(p)) + "</code>"
			}
			fmt.Fprintf(b, "<tr><td><code class=\"arg\">%s</code></td><td><code class=\"type\">%s</code></td><td>%s</td><td>%s</td></tr>\n",
				html.EscapeString(flag(p)), html.EscapeString(p.Type.String()), value, inline(p.Help))
		}
		b.WriteString("</tbody>\n</table></div>\n")
	}
	if e.Source != "" {
		fmt.Fprintf(b, "<details><summary>Source</summary><pre><code>%s</code></pre></details>\n",
			html.EscapeString(e.Source))
	}
	b.WriteString("</article>\n")
}

// blockKind is the kind of a part of a docstring.
type blockKind int

const (
	textBlock blockKind = iota
	listBlock
	codeBlock
)

// block is a part of a docstring between empty lines. In a list, its lines are the items.
type block struct {
	kind  blockKind
	lines []string
}

// blocks splits a docstring into blocks.
func blocks(doc string) []block {
	var out []block
	doc = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(doc)
	for text := range strings.SplitSeq(doc, "\n\n") {
		lines := strings.Split(strings.Trim(text, "\n"), "\n")
		switch first := lines[0]; {
		case strings.TrimSpace(text) == "":
		case strings.HasPrefix(first, " "), strings.HasPrefix(first, "\t"):
			out = append(out, block{codeBlock, lines})
		case isItem(first):
			out = append(out, block{listBlock, items(lines)})
		default:
			out = append(out, block{textBlock, lines})
		}
	}
	return out
}

func isItem(line string) bool { return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") }

// items joins the lines of each item of a list.
func items(lines []string) []string {
	var out []string
	for _, l := range lines {
		if isItem(l) {
			out = append(out, strings.TrimSpace(l[2:]))
			continue
		}
		out[len(out)-1] += " " + strings.TrimSpace(l)
	}
	return out
}

// prose writes a docstring.
func prose(b *strings.Builder, doc string) {
	for _, block := range blocks(doc) {
		switch block.kind {
		case codeBlock:
			fmt.Fprintf(b, "<pre><code>%s</code></pre>\n",
				html.EscapeString(strings.Join(block.lines, "\n")))
		case listBlock:
			b.WriteString("<ul>\n")
			for _, item := range block.lines {
				fmt.Fprintf(b, "<li>%s</li>\n", inline(item))
			}
			b.WriteString("</ul>\n")
		case textBlock:
			fmt.Fprintf(b, "<p>%s</p>\n", inline(strings.Join(block.lines, " ")))
		}
	}
}
