package component

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/startest"
)

// testEvent is one line of `component test -json`: an event in the format of `go test -json`
// (cmd/test2json), with the test file as its package.
type testEvent struct {
	Time    time.Time
	Action  string
	Package string   `json:",omitempty"`
	Test    string   `json:",omitempty"`
	Elapsed *float64 `json:",omitempty"` // seconds
	Output  string   `json:",omitempty"`
}

// events prints the events of a file.
func (p *testPrinter) events(name string, f *testFile) {
	e := &eventWriter{p: p, file: name}
	e.event("start", "", nil, "")
	for i := range f.tests {
		e.begin(&f.tests[i])
		e.test(&f.tests[i], "")
	}
	if f.done.Problem != "" {
		e.output("", problemText(f.done))
	}
	plain := &testPrinter{Factory: &program.Factory{Console: ui.NewConsole(ui.Streams{})}, options: p.options} // without colors
	switch {
	case f.done.Problem != "":
	case f.done.Status == startest.Fail:
		e.output("", "FAIL")
	default:
		e.output("", "PASS")
	}
	e.output("", strings.TrimSuffix(plain.fileLine(name, f.done), "\n"))
	e.event(string(f.done.Status), "", &f.done.Seconds, "")
}

type eventWriter struct {
	p    *testPrinter
	file string
}

func (e *eventWriter) event(action, test string, elapsed *float64, output string) {
	line, err := json.Marshal(testEvent{time.Now().UTC(), action, e.file, test, elapsed, output})
	if err != nil {
		return // strings and numbers always encode
	}
	e.p.text(string(line) + "\n")
}

// output prints text as events, one per line.
func (e *eventWriter) output(test, text string) {
	for line := range strings.Lines(text + "\n") {
		e.event("output", test, nil, line)
	}
}

func (e *eventWriter) begin(r *startest.Result) {
	e.event("run", r.Name, nil, "")
	e.output(r.Name, "=== RUN   "+r.Name)
	for i := range r.Subs {
		e.begin(&r.Subs[i])
	}
}

func (e *eventWriter) test(r *startest.Result, margin string) {
	e.output(r.Name, fmt.Sprintf("%s--- %s: %s (%.2fs)", margin, strings.ToUpper(string(r.Status)), r.Name, r.Seconds))
	for _, o := range r.Output {
		var b strings.Builder
		writeIndented(&b, margin+"    ", o)
		e.output(r.Name, strings.TrimSuffix(b.String(), "\n"))
	}
	for i := range r.Subs {
		e.test(&r.Subs[i], margin+"    ")
	}
	e.event(string(r.Status), r.Name, &r.Seconds, "")
}
