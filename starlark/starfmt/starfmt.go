// Package starfmt lays out Starlark files in their one form: the one of
// `buildifier -lint=off`, by the library that buildifier is made of
// (github.com/bazelbuild/buildtools/build).
package starfmt

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

// Format returns src in the form of buildifier; formatting that again changes nothing. The error is
// an *interp.Error if src is no component file, else a plain one.
func Format(name string, src []byte) ([]byte, error) {
	if _, err := interp.Parse(name, src); err != nil {
		return nil, err
	}
	file, _, err := Parse(name, string(bytes.TrimPrefix(src, byteOrderMark)))
	if err != nil {
		return nil, layoutError(name, err)
	}
	out := build.Format(file)
	// A defect of the formatter must not destroy the file.
	if _, err := interp.Parse(name, out); err != nil {
		return nil, fmt.Errorf("%s cannot be laid out: the result would be no Starlark: %w", name, err)
	}
	return out, nil
}

// Parse reads text as buildifier does, which knows indentation by spaces only. Positions in the tree
// are those in spaced, which has spaces for the tabs in front of lines.
func Parse(name, text string) (file *build.File, spaced string, err error) {
	spaced = expandTabs(text)
	// ParseDefault, whatever the name: files called BUILD or x.bzl have other rules there.
	file, err = build.ParseDefault(name, []byte(spaced))
	return file, spaced, err
}

// tabWidth is the width of a tab for Starlark's scanner, in columns.
const tabWidth = 8

// expandTabs replaces the tabs in front of lines, but not within texts.
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
		if start < done { // a line that a backslash joins to the one before
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

// layoutError is about Starlark that the formatter does not know.
func layoutError(name string, err error) error {
	var at build.ParseError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s cannot be laid out: %w", name, err)
	}
	return fmt.Errorf("%s:%d:%d: cannot be laid out: %s", name, at.Pos.Line, at.Pos.LineRune, at.Message)
}
