package ui

import (
	"strings"
	"testing"
)

// wideNames are names and their widths, which differ from their numbers of characters.
var wideNames = map[string]int{
	"plain":              5,
	"訓練モデル":              10,
	"e\u0301te\u0301":    3, // combining accents
	"\u1112\u1161\u11ab": 2, // one syllable of conjoining jamo
	"👩\u200d👩\u200d👧":    2, // a family: one emoji of several
	"👍🏽":                 2, // with a skin tone
	"🇩🇪":                 2, // a flag of two letters
	"❤\ufe0f":            2, // shown as an emoji
	"längër…":            7,
}

func TestTextWidth(t *testing.T) {
	t.Parallel()
	for text, want := range wideNames {
		if got := TextWidth(text); got != want {
			t.Errorf("%q: got %d columns, want %d", text, got, want)
		}
	}
}

func TestCutText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"訓練モデル", 10, "訓練モデル"},
		{"訓練モデル", 7, "訓練モ…"},
		{"訓練モデル", 6, "訓練…"},
		{"abcdef", 4, "abc…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"a👩\u200d👩\u200d👧b", 3, "a…"},
	} {
		if got := CutText(c.text, c.width, "…"); got != c.want {
			t.Errorf("%q at %d columns: got %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestTableOfWideNames checks that the second column is aligned.
func TestTableOfWideNames(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"NAME", "STATE"}}
	for _, name := range Keys(wideNames) {
		tab.Add(NewCell(name, ""), NewCell("RUNNING", AnsiGreen))
	}
	var b strings.Builder
	must(t, tab.Write(&b, Style{}))
	for line := range strings.Lines(b.String()) {
		at := strings.LastIndex(line, "  ") + 2
		if got := TextWidth(line[:at]); got != 12 {
			t.Errorf("the second column of %q begins at column %d, want 12", line, got)
		}
	}
	tab.Cut(18)
	tab.Shorten("NAME", 14, 4)
	if got := tab.Width(); got > 14 {
		t.Errorf("got %d columns, want at most 14", got)
	}
}

func TestWrapWideText(t *testing.T) {
	t.Parallel()
	got := strings.Join(WrapText("訓練 モデル abc", 8), "|")
	if want := "訓練|モデル|abc"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
