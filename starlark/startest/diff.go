package startest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
	"go.starlark.net/starlark"

	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

const (
	maxShort = 100     // characters of a value that is shown on one line
	maxLine  = 120     // bytes of two values on one line
	maxDiff  = 1 << 18 // bytes of a text that is compared line by line
	maxLines = 200     // lines of a difference that are shown
)

// short is a value in a few words.
func short(what string, v starlark.Value) (string, error) {
	if err := interp.CheckPrint(what, v); err != nil {
		return "", err
	}
	text := v.String()
	if utf8.RuneCountInString(text) > maxShort {
		text = string([]rune(text)[:maxShort]) + "…"
	}
	return text, nil
}

// difference says how got is not want: on one line, or line by line.
func difference(what string, got, want starlark.Value) (string, error) {
	if err := interp.CheckPrint(what, got, want); err != nil {
		return "", err
	}
	g, w := got.String(), want.String()
	if g == w {
		g, w = g+" ("+got.Type()+")", w+" ("+want.Type()+")"
	}
	if len(g)+len(w) <= maxLine {
		return "got " + g + ", want " + w, nil
	}
	return "got is not as wanted:\n" + lineDiff(lines(got), lines(want)), nil
}

// lines is a value as text with a line for each part: a string as it is, what has
// a form in JSON in that form.
func lines(v starlark.Value) string {
	if s, ok := starlark.AsString(v); ok {
		return s
	}
	data, err := indented(v)
	if err != nil {
		return v.String()
	}
	return string(data)
}

// indented is the JSON form of a value, two spaces a level, ending with a newline.
func indented(v starlark.Value) ([]byte, error) {
	data, err := specmodule.ToJSON(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// lineDiff is the unified difference of two texts, "-" being what was wanted.
func lineDiff(got, want string) string {
	if len(got) > maxDiff || len(want) > maxDiff {
		return fmt.Sprintf("got %d bytes, want %d; they are too long to be compared line by line", len(got), len(want))
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(want), B: difflib.SplitLines(got), FromFile: "want", ToFile: "got", Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(text, "\n")
	if len(all) > maxLines {
		text = strings.Join(all[:maxLines], "") + fmt.Sprintf("… %d more lines\n", len(all)-maxLines)
	}
	return text
}
