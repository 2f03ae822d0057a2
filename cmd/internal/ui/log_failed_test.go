package ui

import (
	"bytes"
	"strings"
	"testing"
)

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
