package component

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/startest"
)

// testPrinter prints test results file by file, in the order of the command line, so that results
// of tests that run in parallel do not mix.
type testPrinter struct {
	*program.Factory
	options testOptions
	order   []string
	files   map[string]*testFile
	failed  bool
	err     error // the first error of printing
}

// testFile has the results of a file so far.
type testFile struct {
	tests []startest.Result
	done  *startest.FileResult
}

func newTestPrinter(f *program.Factory, o testOptions, files []string) *testPrinter {
	p := &testPrinter{Factory: f, options: o, order: files, files: map[string]*testFile{}}
	for _, file := range files {
		p.files[file] = &testFile{}
	}
	return p
}

// add adds a result and prints complete files.
func (p *testPrinter) add(m startest.Message) {
	f := p.files[m.File]
	if m.Test != nil {
		f.tests = append(f.tests, *m.Test)
		p.failed = p.failed || m.Test.Status == startest.Fail
	}
	if m.Done != nil {
		f.done = m.Done
		p.failed = p.failed || m.Done.Status == startest.Fail
	}
	for len(p.order) > 0 && p.files[p.order[0]].done != nil {
		p.file(p.order[0])
	}
}

// end prints files that are incomplete because the run was cut short, if any of their tests ran.
func (p *testPrinter) end() error {
	for len(p.order) > 0 {
		f := p.files[p.order[0]]
		if f.done == nil && len(f.tests) == 0 {
			p.order = p.order[1:]
			continue
		}
		if f.done == nil {
			f.done = &startest.FileResult{Status: startest.Pass, Tests: len(f.tests)}
			for i := range f.tests {
				if f.tests[i].Status == startest.Fail {
					f.done.Status = startest.Fail
				}
			}
		}
		p.file(p.order[0])
	}
	if p.failed && !p.options.json {
		p.text(p.OutStyle.Paint(ui.AnsiRed, "FAIL") + "\n")
	}
	return p.err
}

// file prints the next file.
func (p *testPrinter) file(name string) {
	f := p.files[name]
	p.order = p.order[1:]
	slices.SortStableFunc(f.tests, func(a, b startest.Result) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
	if p.options.json {
		p.events(name, f)
	} else {
		p.plainFile(name, f)
	}
	p.files[name] = &testFile{} // printed
	for i := range f.tests {
		for _, w := range writtenFiles(&f.tests[i]) {
			p.Say("wrote %s", filepath.Join(filepath.Dir(name), w))
		}
	}
}

// writtenFiles returns the golden files that a test and its subtests wrote.
func writtenFiles(r *startest.Result) []string {
	all := slices.Clone(r.Wrote)
	for i := range r.Subs {
		all = append(all, writtenFiles(&r.Subs[i])...)
	}
	return all
}

func (p *testPrinter) text(s string) {
	if p.err == nil {
		p.err = p.Print(s)
	}
}

// plainFile prints a file like `go test` prints a package.
func (p *testPrinter) plainFile(name string, f *testFile) {
	var b strings.Builder
	if f.done.Problem != "" {
		fmt.Fprintf(&b, "# %s\n%s\n", ui.OneLine(name), ui.Clean(problemText(f.done), true))
	}
	for i := range f.tests {
		p.plainTest(&b, &f.tests[i], "")
	}
	if f.done.Status == startest.Fail && f.done.Problem == "" {
		b.WriteString(p.verdict(startest.Fail) + "\n")
	} else if p.options.verbose {
		b.WriteString("PASS\n")
	}
	b.WriteString(p.fileLine(name, f.done))
	p.text(b.String())
}

// problemText returns why and where a file could not be loaded.
func problemText(d *startest.FileResult) string {
	if d.Detail == "" {
		return d.Problem
	}
	return d.Problem + "\n" + d.Detail
}

// fileLine returns the last line about a file: "ok", the file and the time, separated by tabs.
func (p *testPrinter) fileLine(name string, d *startest.FileResult) string {
	switch {
	case d.Problem != "":
		return fmt.Sprintf("%s\t%s [load failed]\n", p.verdict(startest.Fail), ui.OneLine(name))
	case d.Status == startest.Fail:
		return fmt.Sprintf("%s\t%s\t%.3fs\n", p.verdict(startest.Fail), ui.OneLine(name), d.Seconds)
	}
	note := ""
	if d.Tests == 0 {
		note = " [no tests to run]"
	}
	return fmt.Sprintf("%s\t%s\t%.3fs%s\n", p.OutStyle.Paint(ui.AnsiGreen, "ok  "),
		ui.OneLine(name), d.Seconds, note)
}

// plainTest prints a failed test, or any test with -v, followed by its subtests.
func (p *testPrinter) plainTest(b *strings.Builder, r *startest.Result, margin string) {
	if !p.options.verbose && r.Status != startest.Fail {
		return
	}
	if p.options.verbose && margin == "" {
		announce(b, r)
	}
	fmt.Fprintf(b, "%s--- %s: %s (%.2fs)\n", margin, p.verdict(r.Status),
		ui.OneLine(r.Name), r.Seconds)
	for _, o := range r.Output {
		writeIndented(b, margin+"    ", ui.Clean(o, true))
	}
	for i := range r.Subs {
		p.plainTest(b, &r.Subs[i], margin+"    ")
	}
}

// announce prints the lines that `go test -v` prints when tests start.
func announce(b *strings.Builder, r *startest.Result) {
	fmt.Fprintf(b, "=== RUN   %s\n", ui.OneLine(r.Name))
	for i := range r.Subs {
		announce(b, &r.Subs[i])
	}
}

func writeIndented(b *strings.Builder, margin, text string) {
	for line := range strings.Lines(text + "\n") {
		b.WriteString(margin + line)
	}
}

// verdict returns a status as printed by `go test`.
func (p *testPrinter) verdict(s startest.Status) string {
	switch s {
	case startest.Fail:
		return p.OutStyle.Paint(ui.AnsiRed, "FAIL")
	case startest.Skip:
		return p.OutStyle.Paint(ui.AnsiYellow, "SKIP")
	}
	return p.OutStyle.Paint(ui.AnsiGreen, "PASS")
}
