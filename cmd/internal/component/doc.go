package component

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/safefile"
	"torchx/starlark/pages"
)

// docOptions are the flags of `component doc`.
type docOptions struct {
	dir         string
	check, html bool
	title       string
}

func newDoc(f *program.Factory) *cli.Command {
	o := docOptions{}
	return &cli.Command{
		Name:  "doc",
		Usage: "write the documentation of components as Markdown and HTML",
		UsageText: "[-o DIR] [--check] [--html] [PATH|@LIBRARY...]\n" +
			"torchx component doc\n" +
			"torchx component doc -o docs/components components\n" +
			"torchx component doc -o docs/components --check components\n" +
			"torchx component doc --html @torchx > builtin.html",
		Description: "Generate pages from the docstrings of components. With -o DIR it writes FILE.md for each file, README.md as their " +
			"index, and index.html, one self-contained page with everything. Without -o it prints Markdown to stdout. PATH is a " +
			"file or a folder; @LIBRARY is a library of the project, @torchx the built-in one. Without arguments it documents the " +
			"project's components. Files that this command did not write are never overwritten.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the files into `DIR`", Destination: &o.dir},
			&cli.BoolFlag{Name: "check", Usage: "write nothing; exit with 1 if a file in DIR is out of date", Destination: &o.check},
			&cli.BoolFlag{Name: "html", Usage: "print the HTML page instead of Markdown", Destination: &o.html},
			&cli.StringFlag{Name: "title", Usage: "`TITLE` of the HTML page", Value: "Components", Destination: &o.title},
		},
		Action: func(c *cli.Context) error {
			if o.check && o.dir == "" {
				return program.Usagef("component doc", "--check compares with the files in a folder: add -o DIR")
			}
			if o.html && o.dir != "" {
				return program.Usagef("component doc", "--html prints to stdout: leave -o out, which writes index.html too")
			}
			return runDoc(c.Context, f, c.Args().Slice(), o)
		},
	}
}

func runDoc(ctx context.Context, f *program.Factory, what []string, o docOptions) error {
	list, err := docPages(ctx, f, what)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("there are no components to document: a component is a function with a docstring, and no _ in front of its name")
	}
	switch {
	case o.html:
		return f.Print(pages.HTML(o.title, list))
	case o.dir == "":
		for _, p := range list {
			if err := f.Print(pages.Markdown(p)); err != nil {
				return err
			}
		}
		return nil
	}
	files := map[string]string{"README.md": pages.Index(list), "index.html": pages.HTML(o.title, list)}
	for _, p := range list {
		if _, twice := files[p.Name+".md"]; twice {
			return fmt.Errorf("two files would be %s.md: document them one by one", p.Name)
		}
		files[p.Name+".md"] = pages.Markdown(p)
	}
	return writePages(f, f.Env.Absolute(o.dir), files, o.check)
}

// maxPage bounds a page in bytes.
const maxPage = 64 << 20

// writePages writes the files that are not up to date; with check it reports them instead.
func writePages(f *program.Factory, dir string, files map[string]string, check bool) error {
	outdated := false
	var write []string
	for _, name := range ui.Keys(files) {
		path := filepath.Join(dir, name)
		data, err := safefile.ReadInput(path, maxPage)
		switch {
		case err == nil && string(data) == files[name]:
			continue
		case err == nil && !bytes.Contains(data, []byte(strings.TrimSpace(pages.Mark))):
			return fmt.Errorf("%s was not made by torchx component doc, and is kept: choose another folder", f.ShortPath(path))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("read %s: %w", f.ShortPath(path), program.PathCause(err))
		case check:
			outdated = true
			f.SayError(f.ShortPath(path) + " is not up to date: run torchx component doc")
			continue
		}
		write = append(write, name)
	}
	if outdated {
		return program.QuietError(program.ExitError)
	}
	if len(write) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", f.ShortPath(dir), program.PathCause(err))
	}
	for _, name := range write {
		if err := program.CreateWhole(filepath.Join(dir, name), []byte(files[name]), true, ""); err != nil {
			return err
		}
		f.Say("wrote %s", f.ShortPath(filepath.Join(dir, name)))
	}
	return nil
}

// docPages returns a page of each file with components, by default of the project's.
func docPages(ctx context.Context, f *program.Factory, what []string) ([]pages.Page, error) {
	loader, err := f.Loader()
	if err != nil {
		return nil, err
	}
	if len(what) == 0 {
		what = []string{filepath.Join(f.ProjectRoot(), "components")}
		if _, err := os.Stat(what[0]); err != nil {
			return nil, fmt.Errorf("the project has no folder %s: name files or folders", f.ShortPath(what[0]))
		}
	}
	return pages.Collect(ctx, loader, f.Env.Dir, what, f.ShortPath)
}
