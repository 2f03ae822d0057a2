package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func lookup(name string) (string, bool) { return "of " + name, name == "SHELL_HAS" }

func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "[]",
		"A=1\nB=2":                        "[{A 1} {B 2}]",
		"\ufeffA=1\r\nB=2\r\n":            "[{A 1} {B 2}]",
		"# c\n  # d\n\n \t\nA=1":          "[{A 1}]",
		"  A=1":                           "[{A 1}]",
		"A=":                              "[{A }]",
		"A= 1 ":                           "[{A  1 }]",
		"A='x' # no comment":              "[{A 'x' # no comment}]",
		`A="b=c"`:                         `[{A "b=c"}]`,
		"SHELL_HAS\nSHELL_LACKS\nB=2":     "[{SHELL_HAS of SHELL_HAS} {B 2}]",
		"A=1\nA=2":                        "[{A 1} {A 2}]",
		"Ä=ö":                             "[{Ä ö}]",
		"A=" + strings.Repeat("x", 70000): "[{A " + strings.Repeat("x", 70000) + "}]",
	} {
		got, err := ReadEnvFile(strings.NewReader(text), "f", lookup)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%.40q: got %.60v, %v, want %.60s", text, got, err, want)
		}
	}
}

// Errors name the line and never contain a value.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A=1\n=hunter2":                        "f:2: no name before `=`",
		"A =hunter2":                           "f:1: the name has white space: write NAME=VALUE without spaces around `=`, and no `export`",
		"export A=hunter2":                     "f:1: the name has white space: write NAME=VALUE without spaces around `=`, and no `export`",
		"A=1\n\nB=hunter2\xff":                 "f:3: the line is not valid UTF-8",
		"A=hunter2\x00":                        "f:1: the line has a NUL byte, which no variable can hold",
		"A=" + strings.Repeat("x", MaxEnvFile): "f has more than 1048576 bytes: not a file of variables",
	} {
		if _, err := ReadEnvFile(strings.NewReader(text), "f", lookup); err == nil || err.Error() != want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := ReadEnvFile(iotest.ErrReader(broken), "f", lookup); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
