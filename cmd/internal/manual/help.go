// Package manual tells how torchx is used: `torchx help` prints a page of the embedded manual,
// `torchx docs` exports the manual as one HTML file or as man pages, and `torchx completion` prints
// a script for a shell, which calls the hidden CompleteCommand with the words of the line.
//
//	docs.Topics ─► help TOPIC ─► $PAGER
//	docs.Site ───► docs ─► index.html
//	commands ────► docs --man ─► torchx.1, torchx-run.1, …
//	commands ────► __complete torchx run --b ─► --backend
package manual

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/docs"
	"torchx/runtime/humanize"
)

// topicsName is the topic that lists all topics.
const topicsName = "topics"

// NewHelp returns the command `help`.
func NewHelp(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "help",
		Usage: "read the manual",
		UsageText: "[TOPIC|COMMAND]\n" +
			"torchx help\n" +
			"torchx help topics\n" +
			"torchx help logs\n" +
			"torchx help component test",
		Description: "Print a page of the manual or the help of a command, on a terminal through $PAGER. Without an argument, print an " +
			"overview of the commands; `torchx help topics` lists the pages.",
		Action: func(c *cli.Context) error {
			return runHelp(c.Context, f, f.CommandLine(), strings.Join(c.Args().Slice(), " "))
		},
	}
}

func runHelp(ctx context.Context, f *program.Factory, app *cli.App, name string) error {
	all, err := docs.Topics()
	if err != nil {
		return err
	}
	width := ui.TerminalWidth(f.Out)
	switch name {
	case "":
		return f.Print(program.Overview(app, width))
	case topicsName:
		return f.Print(topicList(all, width))
	}
	for _, t := range all {
		if t.Name == name {
			return show(ctx, f, terminalText(t.Text, width, f.OutStyle))
		}
	}
	if c := program.FindCommand(app.Commands, name); c != nil {
		return f.Print(program.CommandHelp(c, name, width))
	}
	return fmt.Errorf("unknown topic or command %q: `torchx help topics` lists the topics%s", name,
		humanize.Hint(name, names(app, all)))
}

// names returns the topics and commands that have help.
func names(app *cli.App, all []docs.Topic) []string {
	list := []string{topicsName}
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
	b.WriteString("usage: torchx help TOPIC\n")
	group := ""
	for _, t := range all {
		if t.Group != group {
			group = t.Group
			fmt.Fprintf(&b, "\n%s:\n", strings.ToLower(group))
		}
		program.HelpEntry(&b, t.Name, t.Title, width)
	}
	b.WriteString("\n`torchx docs -o DIR` writes all pages as one HTML file.\n")
	return b.String()
}

// show prints a text, on a terminal through $PAGER.
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
