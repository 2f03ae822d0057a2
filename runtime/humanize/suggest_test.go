package humanize

import (
	"strings"
	"testing"
)

// Expected values are the results of Python's difflib.get_close_matches(word, candidates, 1).
func TestClosestMatchesPython(t *testing.T) {
	t.Parallel()
	options := []string{"msg", "image", "num_replicas", "memMB", "max_retries", "nproc_per_node"}
	tests := []struct {
		word       string
		candidates []string
		want       string
	}{
		{"gpu.smal", []string{"gpu.small", "gpu.medium", "cpu.small"}, "gpu.small"},
		{"imgae", options, "image"},
		{"memmb", options, "memMB"},
		{"zzz", options, ""},
		{"num-replicas", options, "num_replicas"},
		{"nprocs", options, ""},
		{"", options, ""},
		{"anything", nil, ""},
		{"ab", []string{"abx", "abc"}, "abx"},
		{"abc", []string{"ab", "bc"}, "bc"},
		{"aaaa", []string{"aaab", "baaa"}, "baaa"},
		{"utils.ehco", []string{"utils.echo", "utils.sh"}, "utils.echo"},
		{"été", []string{"ete", "étés"}, "étés"},
		{"spmd", []string{"dist.spmd"}, "dist.spmd"},
	}
	for _, test := range tests {
		got, ok := Closest(test.word, test.candidates)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Closest(%q, %q): got %q, %v, want %q", test.word, test.candidates, got, ok, test.want)
		}
	}
}

func TestClosestIgnoresHugeWords(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("a", 1<<20)
	if got, ok := Closest(huge, []string{huge}); ok {
		t.Errorf("a word of 1 MiB: got a suggestion of %d bytes, want none", len(got))
	}
	if got, ok := Closest("word", []string{huge, "world"}); !ok || got != "world" {
		t.Errorf("got %q, %v, want world", got, ok)
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	if got := Hint("mgs", []string{"msg", "image"}); got != " Did you mean msg?" {
		t.Errorf("got %q, want a suggestion of msg", got)
	}
	if got := Hint("zzz", []string{"msg", "image"}); got != "" {
		t.Errorf("no similar word: got %q, want none", got)
	}
}

// TestClosestIsBounded: comparing a million words would take a minute.
func TestClosestIsBounded(t *testing.T) {
	t.Parallel()
	words := make([]string, 1_000_000)
	for i := range words {
		words[i] = "branch-1"
	}
	words[len(words)-1] = "main"
	if got, ok := Closest("main", words); ok {
		t.Errorf("got %q, want none", got)
	}
}

func TestClosestPath(t *testing.T) {
	t.Parallel()
	files := []string{"c.star", "train.star", "sub/train.star", "components/dist.star"}
	names := []string{"utils.sh", "utils.echo", "dist.ddp", "x"}
	for _, test := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"b.star", files, ""},
		{"nosuch.star", files, ""},
		{"tarin.star", files, "train.star"},
		{"sub/tarin.star", files, "sub/train.star"},
		{"sbu/train.star", files, "sub/train.star"},
		{"components/dits.star", files, "components/dist.star"},
		{"components/zzz.star", files, ""},
		{"utils.ehco", names, "utils.echo"},
		{"utils.zz", names, ""},
		{"util.echo", names, "utils.echo"},
		{"a.c.fn", []string{"a.fn", "a.b.c.fn"}, "a.b.c.fn"},
		{"zzzzz.echo", names, ""},
		{"dist.dpd", names, "dist.ddp"},
		{"x", names, "x"},
		{"", names, ""},
		{".", files, ""},
		{"...star", files, ""},
		{strings.Repeat("a.", 150), files, ""},
	} {
		got, ok := ClosestPath(test.word, test.candidates)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("ClosestPath(%q): got %q, %v, want %q", test.word, got, ok, test.want)
		}
	}
	if got := HintPath("tarin.star", files); got != " Did you mean train.star?" {
		t.Errorf("got %q, want a suggestion of train.star", got)
	}
}
