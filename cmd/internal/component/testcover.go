package component

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
	"torchx/starlark/startest"
)

// reportCoverage prints what ran of the files that tests loaded, and of others
// below the paths, of which nothing did.
func reportCoverage(t *program.Factory, loaded []interp.FileCoverage, paths []string, o testOptions) error {
	files := startest.MergeCoverage(notLoaded(t, paths, loaded), loaded)
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
		e.output("", "coverage: "+percent(ran, all)+" of statements")
		return e.p.err
	}
	return printCoverage(t, files)
}

// notLoaded lists the files below the paths that no test has loaded. What cannot
// be parsed is none of coverage's business.
func notLoaded(t *program.Factory, paths []string, loaded []interp.FileCoverage) []interp.FileCoverage {
	known := map[string]bool{}
	for _, f := range loaded {
		known[f.Path] = true
	}
	names, err := starfiles.Find(t.Env.Dir, paths)
	if err != nil {
		return nil
	}
	var list []interp.FileCoverage
	for _, name := range names {
		path := t.Env.Absolute(name)
		if known[path] || starfiles.IsTest(name) {
			continue
		}
		if src, err := interp.ReadFile(path, name); err == nil {
			if f, err := interp.ZeroCoverage(path, name, src); err == nil {
				list = append(list, f)
			}
		}
	}
	return list
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
		tab.Add(ui.NewCell(percent(ran, all), shareColor(ran, all)), ui.NewCell(fmt.Sprintf("%d/%d", ran, all), ""),
			ui.NewCell(strings.TrimPrefix(profileName(t, f.Path), "./"), ""), ui.NewCell(missedLines(f), ui.AnsiDim))
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
	return t.Printf("coverage: %s of statements\n", percent(ran, all))
}

func percent(ran, all int) string {
	if all == 0 {
		return "0.0%"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(ran)/float64(all))
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

// missedLines lists the lines with statements that did not run: "3, 7-9".
func missedLines(f interp.FileCoverage) string {
	var parts []string
	first, last, in := 0, 0, 0
	end := func() {
		switch first {
		case 0:
		case last:
			parts = append(parts, fmt.Sprint(first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", first, last))
		}
		first, last = 0, 0
	}
	for _, b := range f.Blocks {
		if b.Count > 0 || b.Func != in { // between functions there may be what ran
			end()
		}
		if in = b.Func; b.Count > 0 {
			continue
		}
		if first == 0 {
			first = b.Line
		}
		last = max(last, b.EndLine)
	}
	end()
	return strings.Join(parts, ", ")
}
