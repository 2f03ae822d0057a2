package main

import (
	"iter"
	"regexp"
	"strings"
	"testing"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
)

// TestHabits: each command that an answer to a word of another tool names exists and takes
// its flags, and each answer is one short line.
func TestHabits(t *testing.T) {
	t.Parallel()
	g := program.GrammarOf(commandLine())
	for typed, answer := range answers() {
		line := strings.Join(typed, " ")
		_, err := g.Normalize(typed)
		if err == nil || !strings.HasSuffix(err.Error(), answer) {
			t.Errorf("%s: got %v, want the answer %q", line, err, answer)
		}
		if n := len(answer); n > 150 || strings.Contains(answer, "\n") {
			t.Errorf("%s: the answer has %d bytes, want at most 150 in one line", line, n)
		}
		if !strings.Contains(answer, "`") && !strings.Contains(answer, "asks nothing") {
			t.Errorf("%s: %q names no command", line, answer)
		}
		for _, m := range regexp.MustCompile("`torchx ([^`|]*)[^`]*`").FindAllStringSubmatch(answer, -1) {
			if _, err := g.Normalize(strings.Fields(m[1])); err != nil {
				t.Errorf("%s: `torchx %s` in the answer: %v", line, m[1], err)
			}
		}
	}
}

// answers returns each command line that habits answer, and its answer. Flags of all
// commands are those of completion, which has none.
func answers() iter.Seq2[[]string, string] {
	return func(yield func([]string, string) bool) {
		for _, h := range grammar.Habits {
			for verb := range strings.SplitSeq(h.Verb, "|") {
				for word := range strings.FieldsSeq(h.Words) {
					if verb == "" && grammar.IsFlag(word) {
						verb = "completion"
					}
					if !yield(append(strings.Fields(verb), word), h.Answer(verb)) {
						return
					}
				}
			}
		}
	}
}
