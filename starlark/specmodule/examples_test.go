package specmodule

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestExamples checks each line of the file, an expression and its value, and that every documented
// function and constant has a line. docs/reference/language.md shows them.
func TestExamples(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.Image, o.Version = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime", "0.1.0" // of the program
	examples := string(data)
	for line := range strings.Lines(examples) {
		expr, want, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if got, err := eval(t, o, expr); err != nil || got.String() != want {
			t.Errorf("%s: got %v, %v, want %s", expr, got, err, want)
		}
	}
	for name, d := range Docs() {
		isGroup := d.Signature == name && strings.Contains(docs, "\n"+name+".")
		pattern := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `[(\[ ]`)
		if name != "math" && !isGroup && !pattern.MatchString(examples) {
			t.Errorf("%s has no example", name)
		}
	}
}
