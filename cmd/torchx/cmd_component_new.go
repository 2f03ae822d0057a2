package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/starlark/component"
)

func (t *tool) componentNewCommand() *cli.Command {
	return &cli.Command{
		Name:  "new",
		Usage: "write a component to start from, with its test",
		UsageText: "NAME|PATH\n" +
			"torchx component new train\n" +
			"torchx component new train.large\n" +
			"torchx component new jobs/sweep.star:lr",
		Description: "Write a documented component and a test of it. NAME is MODULE or MODULE.FUNCTION, and goes into components/MODULE.star of " +
			"the project's root; PATH is a file, FILE.star or FILE.star:FUNCTION. Files that are there are kept.",
		Action: func(c *cli.Context) error {
			name, err := oneArgument(c, "NAME")
			if err != nil {
				return err
			}
			return t.componentNew(name)
		},
	}
}

// newComponent is what `component new` writes.
type newComponent struct {
	file     string // absolute
	module   string
	function string
	ref      string // how it is run
}

func (t *tool) componentNew(name string) error {
	n, err := t.readNew(name)
	if err != nil {
		return err
	}
	source, test := component.Template(n.module, n.function)
	testFile := strings.TrimSuffix(n.file, ".star") + "_test.star"
	for _, file := range []string{n.file, testFile} {
		if _, err := os.Lstat(file); err == nil {
			return existsError(t.shortPath(file), "choose another name, or write into it")
		}
	}
	if err := os.MkdirAll(filepath.Dir(n.file), 0o755); err != nil {
		return fmt.Errorf("make the folder of %s: %w", t.shortPath(n.file), pathCause(err))
	}
	const hint = "choose another name"
	if err := createWhole(testFile, []byte(test), false, hint); err != nil {
		return err
	}
	if err := createWhole(n.file, []byte(source), false, hint); err != nil {
		return errors.Join(err, os.Remove(testFile))
	}
	t.say("wrote %s and %s", t.shortPath(n.file), t.shortPath(testFile))
	t.say("try: torchx run %s --help; torchx component test %s", n.ref, quoteWord(t.shortPath(testFile)))
	return nil
}

// readNew finds out where NAME or PATH is to be.
func (t *tool) readNew(text string) (*newComponent, error) {
	n := &newComponent{}
	file, function, colon := strings.Cut(text, ":")
	switch {
	case colon || strings.HasSuffix(text, ".star"):
		if !strings.HasSuffix(file, ".star") {
			return nil, usagef("component new", "%s: a component is in a file that ends in .star", quoteWord(text))
		}
		n.file = t.env.absolute(file)
		n.module = strings.TrimSuffix(filepath.Base(file), ".star")
		n.function = function
	case strings.ContainsAny(text, `/\@`):
		return nil, usagef("component new", "%s: a path ends in .star, a name is MODULE or MODULE.FUNCTION", quoteWord(text))
	default:
		n.module, n.function, _ = strings.Cut(text, ".")
		n.file = filepath.Join(t.projectRoot(), "components", n.module+".star")
	}
	if strings.HasSuffix(n.module, "_test") {
		return nil, usagef("component new", "%s: files that end in _test.star hold tests, and no components", quoteWord(text))
	}
	if n.function == "" {
		n.function = strings.ReplaceAll(n.module, "-", "_")
	}
	word := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	if !word.MatchString(n.function) || component.Reserved(n.function) {
		return nil, usagef("component new", "%s cannot be the name of a component: it has small letters, digits and _, begins with a letter, and is no word of Starlark", quoteWord(n.function))
	}
	if n.ref = n.module + "." + n.function; filepath.Dir(n.file) != filepath.Join(t.projectRoot(), "components") {
		n.ref = t.shortPath(n.file) + ":" + n.function
	} else if !word.MatchString(n.module) {
		return nil, usagef("component new", "%s cannot be a module: it has small letters, digits and _, and begins with a letter", quoteWord(n.module))
	}
	return n, nil
}
