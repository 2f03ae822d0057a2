package program

import (
	"testing"
)

func TestUsageLines(t *testing.T) {
	t.Parallel()
	got := usageLines("usage: torchx x ", "A [-b B] [--long-one VALUE] -c", 30)
	want := "usage: torchx x A [-b B]\n                [--long-one VALUE]\n                -c\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
