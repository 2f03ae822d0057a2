package component

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/component"
)

func newNew(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "new",
		Usage: "create a component with its test",
		UsageText: "NAME|PATH\n" +
			"torchx component new train\n" +
			"torchx component new sweep.large\n" +
			"torchx component new jobs/sweep.star:lr",
		Description: "Write a documented component and a test for it. NAME is MODULE or MODULE.FUNCTION and goes into " +
			"components/MODULE.star below the project's root; dots in MODULE are folders. PATH is FILE.star or FILE.star:FUNCTION. " +
			"Existing files are never overwritten.",
		Action: func(c *cli.Context) error {
			name, err := program.OneArgument(c, "NAME")
			if err != nil {
				return err
			}
			return runNew(f, name)
		},
	}
}

// template describes the files that `component new` writes.
type template struct {
	file     string // absolute
	module   string
	function string
	ref      string // its reference for `torchx run`
}

func runNew(f *program.Factory, name string) error {
	n, err := parseNew(f, name)
	if err != nil {
		return err
	}
	source, test := component.Template(n.module, n.function)
	testFile := strings.TrimSuffix(n.file, ".star") + "_test.star"
	for _, file := range []string{n.file, testFile} {
		if _, err := os.Lstat(file); err == nil {
			return program.ExistsError(f.ShortPath(file), "choose another name, or write into it")
		}
	}
	if err := program.MakeFolder(f.ProjectRoot(), filepath.Dir(n.file)); err != nil {
		return err
	}
	const hint = "choose another name"
	if err := program.CreateWhole(testFile, []byte(test), false, hint); err != nil {
		return err
	}
	if err := program.CreateWhole(n.file, []byte(source), false, hint); err != nil {
		return errors.Join(err, os.Remove(testFile))
	}
	f.Say("wrote %s and %s", f.ShortPath(n.file), f.ShortPath(testFile))
	f.Say("try: torchx run %s --help; torchx component test %s", n.ref,
		ui.QuoteWord(f.ShortPath(testFile)))
	return nil
}

// parseNew returns the template for NAME or PATH.
func parseNew(f *program.Factory, text string) (*template, error) {
	n := &template{}
	file, function, colon := strings.Cut(text, ":")
	switch {
	case colon || strings.HasSuffix(text, ".star"):
		if !strings.HasSuffix(file, ".star") {
			return nil, program.Usagef("component new",
				"%s: the name of the file must end in .star", ui.QuoteWord(text))
		}
		n.file = f.Env.Absolute(file)
		n.module = strings.TrimSuffix(filepath.Base(file), ".star")
		n.function = function
	case strings.ContainsAny(text, `/\@`):
		return nil, program.Usagef("component new",
			"%s: a path ends in .star, a name is MODULE or MODULE.FUNCTION", ui.QuoteWord(text))
	default:
		folders := strings.Split(text, ".")
		if last := len(folders) - 1; last > 0 {
			folders, n.function = folders[:last], folders[last]
		}
		if slices.Contains(folders, "") {
			return nil, program.Usagef("component new",
				"%s: a name is MODULE or MODULE.FUNCTION, without empty parts", ui.QuoteWord(text))
		}
		n.module = folders[len(folders)-1]
		n.file = filepath.Join(f.ProjectRoot(), "components", filepath.Join(folders...)+".star")
	}
	if strings.HasSuffix(n.module, "_test") {
		return nil, program.Usagef("component new",
			"%s: files that end in _test.star contain tests, not components", ui.QuoteWord(text))
	}
	if n.function == "" {
		n.function = strings.ReplaceAll(n.module, "-", "_")
	}
	word := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	if !word.MatchString(n.function) || component.Reserved(n.function) {
		return nil, program.Usagef("component new", "%s cannot be the name of a component: use lower-case letters, digits and _, start with a letter, and avoid words of Starlark", ui.QuoteWord(n.function))
	}
	inside, ok := strings.CutPrefix(n.file,
		filepath.Join(f.ProjectRoot(), "components")+string(filepath.Separator))
	if !ok {
		n.ref = f.ShortPath(n.file) + ":" + n.function
		return n, nil
	}
	folders := strings.Split(strings.TrimSuffix(filepath.ToSlash(inside), ".star"), "/")
	for _, part := range folders {
		if !word.MatchString(part) {
			return nil, program.Usagef("component new", "%s cannot be a module: use lower-case letters, digits and _, and start with a letter", ui.QuoteWord(part))
		}
	}
	n.ref = strings.Join(append(folders, n.function), ".")
	return n, nil
}
