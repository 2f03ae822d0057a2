package manual

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// maxText is the width of a line of text in bytes; escapes make it longer.
const maxText = 70

// manPages returns man(7) pages of the program and of each command, by file name.
func manPages(app *cli.App) map[string]string {
	files := map[string]string{}
	main := newManPage("torchx", app.Usage)
	main.section("SYNOPSIS")
	main.line(".B torchx")
	main.text("COMMAND [options]")
	main.section("COMMANDS")
	visit(app.Commands, "", func(name string, c *cli.Command) {
		main.entry(name, c.Usage)
		files["torchx-"+strings.ReplaceAll(name, " ", "-")+".1"] = commandPage(name, c)
	})
	main.options(app.Flags)
	main.section("SEE ALSO")
	main.text("torchx help topics lists the pages of the manual.")
	files["torchx.1"] = main.String()
	return files
}

// visit calls call for every visible command with its full name.
func visit(commands []*cli.Command, group string, call func(name string, c *cli.Command)) {
	for _, c := range commands {
		if !c.Hidden {
			call(group+c.Name, c)
			visit(c.Subcommands, group+c.Name+" ", call)
		}
	}
}

func commandPage(name string, c *cli.Command) string {
	usage, examples, _ := strings.Cut(c.UsageText, "\n")
	p := newManPage("torchx-"+strings.ReplaceAll(name, " ", "-"), c.Usage)
	p.section("SYNOPSIS")
	p.line(".B torchx " + roff(name))
	p.text(usage)
	if c.Description != "" {
		p.section("DESCRIPTION")
		p.text(c.Description)
	}
	p.options(c.Flags)
	if examples = strings.TrimSpace(examples); examples != "" {
		p.section("EXAMPLES")
		p.line(".nf")
		for line := range strings.SplitSeq(examples, "\n") {
			p.text(line)
		}
		p.line(".fi")
	}
	p.section("SEE ALSO")
	p.line(".BR torchx (1)")
	return p.String()
}

// manPage builds a man page.
type manPage struct{ strings.Builder }

func newManPage(name, usage string) *manPage {
	p := &manPage{}
	p.line(fmt.Sprintf(".TH %s 1 %s torchx \"torchx manual\"", strings.ToUpper(roff(name)), time.Now().UTC().Format(time.DateOnly)))
	p.section("NAME")
	p.line(roff(name) + ` \-`)
	p.text(usage)
	return p
}

func (p *manPage) line(text string) { p.WriteString(text + "\n") }

func (p *manPage) section(title string) { p.line(".SH " + title) }

// text writes a paragraph in short lines and escapes lines that would be requests.
func (p *manPage) text(paragraph string) {
	for _, line := range ui.WrapText(paragraph, maxText) {
		line = roff(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		p.line(line)
	}
}

// entry writes a term and its explanation.
func (p *manPage) entry(term, explanation string) {
	p.line(".TP")
	p.line(".B " + roff(term))
	p.text(explanation)
}

func (p *manPage) options(flags []cli.Flag) {
	p.section("OPTIONS")
	for _, f := range flags {
		label, usage, ok := program.FlagText(f)
		if ok {
			p.entry(label, usage)
		}
	}
	p.entry("-h, --help", "print help and exit")
}

// roff escapes text for man(7).
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ", "“", `\(lq`, "”", `\(rq`, "…", "...").Replace(text)
}
