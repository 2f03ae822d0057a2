package image

import (
	"slices"
	"testing"
)

func TestNeedsBuildKit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		line int
		what string
	}{
		{"FROM a\nRUN true\nCOPY . .\n", 0, ""},
		{"# syntax=docker/dockerfile:1\nFROM a\n# RUN --mount=x\nRUN echo --mount=x\nRUN cat <<< x\n\\\n", 0, ""},
		{"FROM a\nRUN --mount=type=cache,target=/c pip\n", 2, "RUN --mount"},
		{"FROM a\n\nrun \\\n  # why\n  --network=none x\n", 3, "RUN --network"},
		{"FROM a\nCOPY --from=b --link x y\n", 2, "COPY --link"},
		{"FROM a\nCOPY --chown=1:1 x y\n", 0, ""},
		{"FROM a\nADD --checksum=sha256:0 x y\n", 2, "ADD --checksum"},
		{"FROM a\nRUN <<EOF\necho\nEOF\n", 2, "RUN <<E"},
		{"FROM a\nCOPY <<-\"END\" /x\nEND\n", 2, "COPY <<-\"E"},
	} {
		if line, what := needsBuildKit(test.text); line != test.line || what != test.what {
			t.Errorf("%q: line %d, %q, want %d, %q", test.text, line, what, test.line, test.what)
		}
	}
}

func TestBases(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"ARG IMAGE\nFROM $IMAGE\nCOPY . .\n":                                  {"base:1"},
		"FROM --platform=linux/amd64 ${IMAGE} AS one\nFROM one\nFROM scratch": {"base:1"},
		"from python:3.12 as x\nFROM ${IMAGE:-other}\nFROM $OTHER\nFROM X":    {"python:3.12", "base:1"},
		"FROM $IMAGES\n": nil,
		"FROM\n":         nil,
	} {
		if got := Bases(text, "base:1"); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
