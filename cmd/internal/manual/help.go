// Package manual implements `torchx help`, which prints a page of the embedded documentation,
// and `torchx docs`, which writes all of it as one HTML page or as man pages.
//
//	docs.Topics ─► help TOPIC ─► $PAGER
//	docs.Site ───► docs ─► index.html
//	commands ────► docs --man ─► torchx.1, torchx-run.1, …
package manual

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/docs"
	"torchx/runtime/suggest"
)

// NewHelp returns the command `help`.
func NewHelp(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:        "help",
		Usage:       "explain a command or a topic",
		UsageText:   "[TOPIC|COMMAND]\ntorchx help\ntorchx help logs\ntorchx help run",
		Description: "Print a page of the documentation, or the help of a command. Without an argument, list all topics. On a terminal the page is shown by $PAGER.",
		Action: func(c *cli.Context) error {
			return runHelp(c.Context, f, c.App, strings.Join(c.Args().Slice(), " "))
		},
	}
}

func runHelp(ctx context.Context, f *program.Factory, app *cli.App, name string) error {
	all, err := docs.Topics()
	if err != nil {
		return err
	}
	if name == "" {
		return f.Print(topicList(all, ui.TerminalWidth(f.Out)))
	}
	for _, t := range all {
		if t.Name == name {
			return show(ctx, f, terminalText(t.Text, f.OutStyle))
		}
	}
	if c := program.FindCommand(app.Commands, name); c != nil {
		return f.Print(program.CommandHelp(c, name, ui.TerminalWidth(f.Out)))
	}
	return fmt.Errorf("%q is neither a topic nor a command%s: `torchx help` lists the topics", name, suggest.Hint(name, names(app, all)))
}

// names returns what can be asked for.
func names(app *cli.App, all []docs.Topic) (list []string) {
	for _, t := range all {
		list = append(list, t.Name)
	}
	for _, c := range app.Commands {
		list = append(list, c.Name)
	}
	return list
}

func topicList(all []docs.Topic, width int) string {
	var b strings.Builder
	b.WriteString("usage: torchx help [TOPIC|COMMAND]\n")
	group := ""
	for _, t := range all {
		if t.Group != group {
			group = t.Group
			fmt.Fprintf(&b, "\n%s:\n", strings.ToLower(group))
		}
		program.HelpEntry(&b, t.Name, t.Title, width)
	}
	b.WriteString("\n`torchx docs -o DIR` writes all of it as an HTML page.\n")
	return b.String()
}

var (
	markdownComment = `(?m)^<!--.*-->\n`
	markdownLink    = `!?\[([^\]]*)\]\([^)]*\)`
)

// terminalText is Markdown as people read it in a terminal: without comments and fences,
// links as their text, headings in bold.
func terminalText(markdown string, style ui.Style) string {
	var b strings.Builder
	text := regexp.MustCompile(markdownComment).ReplaceAllString(markdown, "")
	links := regexp.MustCompile(markdownLink)
	isCode := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			isCode = !isCode
			continue
		}
		line = strings.TrimRight(line, "\n")
		heading := strings.TrimLeft(line, "#")
		switch {
		case isCode:
			line = "    " + line
		case heading != line && strings.HasPrefix(heading, " "):
			line = style.Paint(ui.AnsiBold, strings.TrimSpace(heading))
		default:
			line = links.ReplaceAllString(line, "$1")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// show prints a text, on a terminal by $PAGER.
func show(ctx context.Context, f *program.Factory, text string) error {
	pager := strings.Fields(f.Env.Get("PAGER"))
	if len(pager) == 0 {
		pager = []string{"less"}
	}
	out, isFile := f.Out.(*os.File)
	if !isFile || !ui.IsTerminal(f.Out) || slices.Contains([]string{"cat", "-"}, pager[0]) {
		return f.Print(text)
	}
	path, err := exec.LookPath(pager[0])
	if err != nil {
		return f.Print(text)
	}
	cmd := exec.CommandContext(ctx, path, pager[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), out, f.Err
	cmd.Env = append([]string{"LESS=FRX"}, f.Env.Vars...)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run $PAGER: %w", err)
	}
	return nil
}
