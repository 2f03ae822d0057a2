// Package starfmt lays out Starlark files in their one form: the one of
// `buildifier -lint=off`, by the library that buildifier is made of
// (github.com/bazelbuild/buildtools/build).
package starfmt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bazelbuild/buildtools/build"

	"torchx/starlark/interp"
)

var byteOrderMark = []byte("\uFEFF")

// Format returns src in the form of buildifier; formatting that again changes nothing. The error is
// an *interp.Error if src is no component file, else a plain one.
func Format(name string, src []byte) ([]byte, error) {
	if _, err := interp.Parse(name, src); err != nil {
		return nil, err
	}
	// ParseDefault, whatever the name: files called BUILD or x.bzl have other rules there.
	file, err := build.ParseDefault(name, bytes.TrimPrefix(src, byteOrderMark))
	if err != nil {
		return nil, layoutError(name, src, err)
	}
	out := build.Format(file)
	// A defect of the formatter must not destroy the file.
	if _, err := interp.Parse(name, out); err != nil {
		return nil, fmt.Errorf("%s cannot be laid out: the result would be no Starlark: %w", name, err)
	}
	return out, nil
}

// layoutError is about Starlark that the formatter does not know.
func layoutError(name string, src []byte, err error) error {
	var at build.ParseError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s cannot be laid out: %w", name, err)
	}
	reason := at.Message
	if lines := bytes.Split(src, []byte("\n")); at.Pos.Line <= len(lines) && bytes.HasPrefix(lines[at.Pos.Line-1], []byte("\t")) {
		reason = "a line is indented by a tab; use spaces"
	}
	return fmt.Errorf("%s:%d:%d: cannot be laid out: %s", name, at.Pos.Line, at.Pos.LineRune, reason)
}
