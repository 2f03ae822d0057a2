package startest

import (
	"testing"

	"torchx/starlark/interp"
)

// TestMissedLines checks that a range ends with its function, since statements between two functions
// may have run.
func TestMissedLines(t *testing.T) {
	t.Parallel()
	f, err := interp.ZeroCoverage("/x.star", "x.star", []byte("def a():\n    x = 1\n\n    return x\n\nX = a\n\ndef b():\n    return (\n        1\n    )\n\ndef c():\n    pass\n"))
	if err != nil {
		t.Fatal(err)
	}
	for ran, want := range map[int]string{-1: "2-4, 9-11, 14", 0: "4, 9-11, 14", 1: "2, 9-11, 14", 2: "2-4, 14"} {
		for i := range f.Blocks {
			f.Blocks[i].Count = 0
		}
		if ran >= 0 {
			f.Blocks[ran].Count = 1
		}
		if got := MissedLines(f); got != want {
			t.Errorf("statement %d ran: missed %q, want %q", ran, got, want)
		}
	}
}
