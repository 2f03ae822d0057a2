package component

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/interp"
	"torchx/starlark/startest"
)

// reportCoverage prints the coverage of the files that tests loaded, and of other files below the
// paths, where no statement ran. It also writes the profile.
func reportCoverage(
	f *program.Factory, loaded []interp.FileCoverage, paths []string, o testOptions,
) error {
	files := startest.MergeCoverage(startest.Unloaded(f.Env.Dir, paths, loaded), loaded)
	if o.profile != "" {
		var b bytes.Buffer
		if err := startest.WriteProfile(&b, files, func(path string) string { return profileName(f, path) }); err != nil {
			return err
		}
		if err := replaceFile(f.Env.Absolute(o.profile), b.Bytes()); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	if o.json {
		e := &eventWriter{p: newTestPrinter(f, o, nil)}
		e.output("", "coverage: "+startest.Percent(ran, all)+" of statements")
		return e.p.err
	}
	return printCoverage(f, files)
}

// profileName returns a path in the form that the go tool accepts for files outside of packages.
func profileName(f *program.Factory, path string) string {
	if rel, err := filepath.Rel(f.Env.Dir, path); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

func printCoverage(f *program.Factory, files []interp.FileCoverage) error {
	tab := ui.Table{Header: []string{"COVERAGE", "STATEMENTS", "FILE", "LINES THAT DID NOT RUN"}}
	for _, file := range files {
		ran, all := startest.Covered(file)
		if all == 0 {
			continue
		}
		tab.Add(ui.NewCell(startest.Percent(ran, all), shareColor(ran, all)), ui.NewCell(fmt.Sprintf("%d/%d", ran, all), ""),
			ui.NewCell(strings.TrimPrefix(profileName(f, file.Path), "./"), ""), ui.NewCell(startest.MissedLines(file), ui.AnsiDim))
	}
	if len(tab.Rows) > 0 {
		if err := f.PrintTable(&tab, tab.Cut); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	return f.Printf("coverage: %s of statements\n", startest.Percent(ran, all))
}

func shareColor(ran, all int) string {
	switch {
	case ran == all:
		return ui.AnsiGreen
	case 2*ran < all:
		return ui.AnsiRed
	}
	return ui.AnsiYellow
}
