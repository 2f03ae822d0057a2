package manual

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"torchx/clients"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/docs"
)

// docsOptions are the flags of `docs`.
type docsOptions struct {
	dir string
	man bool
}

// NewDocs returns the command `docs`.
func NewDocs(f *program.Factory) *cli.Command {
	var o docsOptions
	return &cli.Command{
		Name:  "docs",
		Usage: "export the manual",
		UsageText: "-o DIR [--man]\n" +
			"torchx docs -o site\n" +
			"torchx docs --man -o ~/.local/share/man/man1",
		Description: "Write the manual into DIR as index.html: all pages, with search, in one file that needs no network, the JSON Schemas into " +
			"DIR/schema, and torchx_client.py, which drives torchx from Python. With --man, write " +
			"a man page for torchx and for each command instead. Existing files with these names are overwritten.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write into `DIR`", Destination: &o.dir},
			&cli.BoolFlag{Name: "man", Usage: "write man pages instead of HTML", Destination: &o.man},
		},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			if o.dir == "" {
				return program.Usagef("docs", "name a folder with -o DIR")
			}
			return runDocs(f, f.CommandLine(), o)
		},
	}
}

func runDocs(f *program.Factory, app *cli.App, o docsOptions) error {
	var files map[string]string
	var err error
	if o.man {
		files = manPages(app)
	} else if files, err = docs.Schemas(); err != nil {
		return err
	} else {
		files["index.html"], files["torchx_client.py"] = docs.Site, clients.Python
	}
	dir := f.Env.Absolute(o.dir)
	if err := program.MakeFolder(f.ProjectRoot(), dir); err != nil {
		return err
	}
	for _, name := range ui.Keys(files) {
		path := filepath.Join(dir, name)
		if err := program.MakeFolder(dir, filepath.Dir(path)); err != nil {
			return err
		}
		if err := program.CreateWhole(path, []byte(files[name]), true, ""); err != nil {
			return err
		}
	}
	if o.man {
		f.Say("wrote %d man pages to %s", len(files), f.ShortPath(dir))
	} else {
		f.Say("wrote %s", f.ShortPath(filepath.Join(dir, "index.html")))
	}
	return nil
}
