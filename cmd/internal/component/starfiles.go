package component

import (
	"errors"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/starlark/starfiles"
)

// eachStarFile calls do for each .star file that the paths name, with its name as
// the user would write it. It goes on after an error, says what went wrong, and
// fails at the end; a quietError has been said.
func eachStarFile(f *program.Factory, paths []string, do func(file string) error) error {
	files, err := starFiles(f, paths)
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
		var quiet program.QuietError
		if program.IsBrokenPipe(err) {
			return err
		}
		if !errors.As(err, &quiet) {
			f.Explain(err)
		}
	}
	if failed {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// starFiles finds the .star files that paths name, the working folder without any.
func starFiles(f *program.Factory, paths []string) ([]string, error) {
	files, err := starfiles.Find(f.Env.Dir, paths)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		f.Say("no .star files in %s", strings.Join(append([]string{}, orHere(paths)...), ", "))
	}
	return files, nil
}

func orHere(paths []string) []string {
	if len(paths) == 0 {
		return []string{"."}
	}
	return paths
}
