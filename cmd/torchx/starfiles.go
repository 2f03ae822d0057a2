package main

import (
	"errors"
	"strings"

	"torchx/starlark/starfiles"
)

// eachStarFile calls do for each .star file that the paths name, with its name as
// the user would write it. It goes on after an error, says what went wrong, and
// fails at the end; a quietError has been said.
func (t *tool) eachStarFile(paths []string, do func(file string) error) error {
	files, err := t.starFiles(paths)
	if err != nil {
		return err
	}
	failed := false
	for _, file := range files {
		err := do(file)
		if err == nil {
			continue
		}
		failed = true
		var quiet quietError
		if isBrokenPipe(err) {
			return err
		}
		if !errors.As(err, &quiet) {
			t.explain(err)
		}
	}
	if failed {
		return quietError{exitError}
	}
	return nil
}

// starFiles finds the .star files that paths name, the working folder without any.
func (t *tool) starFiles(paths []string) ([]string, error) {
	files, err := starfiles.Find(t.env.dir, paths)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		t.say("no .star files in %s", strings.Join(append([]string{}, orHere(paths)...), ", "))
	}
	return files, nil
}

func orHere(paths []string) []string {
	if len(paths) == 0 {
		return []string{"."}
	}
	return paths
}

// paintDiff colours the lines of a unified diff.
func (c *console) paintDiff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			code = ansiBold
		case strings.HasPrefix(line, "+"):
			code = ansiGreen
		case strings.HasPrefix(line, "-"):
			code = ansiRed
		case strings.HasPrefix(line, "@@"):
			code = ansiDim
		}
		b.WriteString(c.outStyle.paint(code, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
