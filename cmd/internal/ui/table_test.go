package ui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"NAME", "STATE", "EXIT"}}
	tab.Add(Cell{"a", ""}, Cell{"RUNNING", AnsiGreen}, Cell{})
	tab.Add(Cell{"längër\x1b[0m", ""}, Cell{"FAILED", AnsiRed}, Cell{"1", ""})
	var b bytes.Buffer
	must(t, tab.Write(&b, Style{}))
	want := strings.Join([]string{
		`NAME           STATE    EXIT`,
		`a              RUNNING`,
		`längër\x1b[0m  FAILED   1`, "",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	must(t, tab.Write(&b, Style{Color: true}))
	if !strings.Contains(b.String(), AnsiRed+"FAILED"+AnsiReset+"   1") {
		t.Errorf("got no colors: %q", b.String())
	}
}

func TestTableFitsTheScreen(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"HANDLE", "NAME", "STATE", "KIND"}}
	tab.Add(Cell{"local://torchx/x", ""}, Cell{"x", ""}, Cell{"RUNNING", ""}, Cell{"utils.echo", ""})
	for width, want := range map[int]string{
		200: "HANDLE            NAME  STATE    KIND", 42: "HANDLE            STATE    KIND",
		25: "HANDLE            STATE", 5: "HANDLE            STATE",
	} {
		got := Table{Header: slices.Clone(tab.Header), Rows: [][]Cell{slices.Clone(tab.Rows[0])}}
		got.Fit(width, "NAME", "KIND")
		var b strings.Builder
		if err := got.Write(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		if line, _, _ := strings.Cut(b.String(), "\n"); line != want {
			t.Errorf("at %d columns the header is %q, want %q", width, line, want)
		}
	}
}

func TestTableCut(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"TIME", "WHAT"}}
	tab.Add(Cell{"12:00", ""}, Cell{strings.Repeat("é", 40), ""})
	tab.Add(Cell{"12:01", ""}, Cell{"short", ""})
	tab.Cut(20)
	var b bytes.Buffer
	must(t, tab.Write(&b, Style{}))
	if want := "TIME   WHAT\n12:00  " + strings.Repeat("é", 12) + "…\n12:01  short\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
