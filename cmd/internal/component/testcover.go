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

// reportCoverage prints what ran of the files that tests loaded, and of others
// below the paths, of which nothing did.
func reportCoverage(t *program.Factory, loaded []interp.FileCoverage, paths []string, o testOptions) error {
	files := startest.MergeCoverage(startest.Unloaded(t.Env.Dir, paths, loaded), loaded)
	if o.profile != "" {
		var b bytes.Buffer
		if err := startest.WriteProfile(&b, files, func(path string) string { return profileName(t, path) }); err != nil {
			return err
		}
		if err := replaceFile(t.Env.Absolute(o.profile), b.Bytes()); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	if o.json {
		e := &eventWriter{p: newTestPrinter(t, o, nil)}
		e.output("", "coverage: "+startest.Percent(ran, all)+" of statements")
		return e.p.err
	}
	return printCoverage(t, files)
}

// profileName is how the go tool finds a file that belongs to no package.
func profileName(t *program.Factory, path string) string {
	if rel, err := filepath.Rel(t.Env.Dir, path); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

func printCoverage(t *program.Factory, files []interp.FileCoverage) error {
	tab := ui.Table{Header: []string{"COVERAGE", "STATEMENTS", "FILE", "LINES THAT DID NOT RUN"}}
	for _, f := range files {
		ran, all := startest.Covered(f)
		if all == 0 {
			continue
		}
		tab.Add(ui.NewCell(startest.Percent(ran, all), shareColor(ran, all)), ui.NewCell(fmt.Sprintf("%d/%d", ran, all), ""),
			ui.NewCell(strings.TrimPrefix(profileName(t, f.Path), "./"), ""), ui.NewCell(startest.MissedLines(f), ui.AnsiDim))
	}
	if width := ui.ScreenWidth(t.Out); width > 0 {
		tab.Cut(width)
	}
	if len(tab.Rows) > 0 {
		if err := tab.Write(t.Out, t.OutStyle); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	return t.Printf("coverage: %s of statements\n", startest.Percent(ran, all))
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
