package starfiles

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/bazelbuild/buildtools/build"

	"torchx/starlark/interp"
	"torchx/starlark/token"
)

var byteOrderMark = []byte("\uFEFF")

// Format returns src as buildifier formats it; formatting the result again changes nothing. The
// error is an *interp.Error if src is not a component file.
func Format(name string, src []byte) ([]byte, error) {
	if _, err := interp.Parse(name, src); err != nil {
		return nil, err
	}
	file, _, err := Parse(name, string(bytes.TrimPrefix(src, byteOrderMark)))
	if err != nil {
		return nil, layoutError(name, err)
	}
	out := build.Format(file)
	// A bug of the formatter must not destroy the file.
	if _, err := interp.Parse(name, out); err != nil {
		return nil, fmt.Errorf("%s cannot be formatted: the result would not be valid Starlark: %w", name, err)
	}
	return out, nil
}

// Parse parses text like buildifier, which supports only indentation by spaces. Positions in the
// tree refer to spaced, where leading tabs are replaced by spaces.
func Parse(name, text string) (file *build.File, spaced string, err error) {
	spaced = expandTabs(text)
	// ParseDefault, whatever the name: files called BUILD or x.bzl would get other rules.
	file, err = build.ParseDefault(name, []byte(spaced))
	return file, spaced, err
}

// tabWidth is the width of a tab for Starlark's scanner, in columns.
const tabWidth = 8

// expandTabs replaces the leading tabs of lines, but not those inside strings.
func expandTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var out strings.Builder
	done := 0
	tokens := token.Scan(text, 0)
	for i, t := range tokens {
		if i > 0 && tokens[i-1].Kind != token.Newline {
			continue
		}
		start := strings.LastIndexByte(text[:t.Start], '\n') + 1
		if start < done { // joined to the previous line by a backslash
			continue
		}
		out.WriteString(text[done:start])
		width := 0
		for _, c := range text[start:t.Start] {
			if c == '\t' {
				width += tabWidth - 1 - width%tabWidth
			}
			width++
		}
		out.WriteString(strings.Repeat(" ", width))
		done = t.Start
	}
	return out.String() + text[done:]
}

// layoutError is the error for Starlark that the formatter does not support.
func layoutError(name string, err error) error {
	var at build.ParseError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s cannot be formatted: %w", name, err)
	}
	return fmt.Errorf("%s:%d:%d: cannot be formatted: %s", name, at.Pos.Line,
		at.Pos.LineRune, at.Message)
}
