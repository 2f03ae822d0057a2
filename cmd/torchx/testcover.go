package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
	"torchx/starlark/startest"
)

// reportCoverage prints what ran of the files that tests loaded, and of others
// below the paths, of which nothing did.
func (t *tool) reportCoverage(loaded []interp.FileCoverage, paths []string, o testOptions) error {
	files := startest.MergeCoverage(t.notLoaded(paths, loaded), loaded)
	if o.profile != "" {
		var b bytes.Buffer
		if err := startest.WriteProfile(&b, files, func(path string) string { return t.profileName(path) }); err != nil {
			return err
		}
		if err := replaceFile(t.env.absolute(o.profile), b.Bytes()); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	if o.json {
		e := &eventWriter{p: newTestPrinter(t, o, nil)}
		e.output("", "coverage: "+percent(ran, all)+" of statements")
		return e.p.err
	}
	return t.printCoverage(files)
}

// notLoaded lists the files below the paths that no test has loaded. What cannot
// be parsed is none of coverage's business.
func (t *tool) notLoaded(paths []string, loaded []interp.FileCoverage) []interp.FileCoverage {
	known := map[string]bool{}
	for _, f := range loaded {
		known[f.Path] = true
	}
	names, err := starfiles.Find(t.env.dir, paths)
	if err != nil {
		return nil
	}
	var list []interp.FileCoverage
	for _, name := range names {
		path := t.env.absolute(name)
		if known[path] || starfiles.IsTest(name) {
			continue
		}
		if src, err := interp.ReadFile(path, name); err == nil {
			if f, err := interp.Statements(path, name, src); err == nil {
				list = append(list, f)
			}
		}
	}
	return list
}

// profileName is how the go tool finds a file that belongs to no package.
func (t *tool) profileName(path string) string {
	if rel, err := filepath.Rel(t.env.dir, path); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

func (t *tool) printCoverage(files []interp.FileCoverage) error {
	tab := table{header: []string{"COVERAGE", "STATEMENTS", "FILE", "LINES THAT DID NOT RUN"}}
	for _, f := range files {
		ran, all := startest.Covered(f)
		if all == 0 {
			continue
		}
		tab.add(cell{percent(ran, all), shareColor(ran, all)}, cell{fmt.Sprintf("%d/%d", ran, all), ""},
			cell{strings.TrimPrefix(t.profileName(f.Path), "./"), ""}, cell{missedLines(f), ansiDim})
	}
	if width := screenWidth(t.out); width > 0 {
		tab.cut(width)
	}
	if len(tab.rows) > 0 {
		if err := tab.write(t.out, t.outStyle); err != nil {
			return err
		}
	}
	ran, all := startest.Covered(files...)
	return t.printf("coverage: %s of statements\n", percent(ran, all))
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
		return ansiGreen
	case 2*ran < all:
		return ansiRed
	}
	return ansiYellow
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
