package config

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxEnvFile bounds a file in bytes: Linux starts no program with more than 6 MiB of variables
// and arguments.
const MaxEnvFile = 1 << 20

// EnvVariable is one variable of a file.
type EnvVariable struct{ Name, Value string }

// ReadEnvFile returns the variables of a file in order, by the rules of `docker run --env-file`:
//
//	# a comment, also after white space
//	NAME=VALUE     the value is everything after the first =, quotes and white space included
//	NAME           the value of the caller's environment; left out if it is not set there
//
// Lines end in LF or CRLF. The file is UTF-8 and may start with a byte order mark; name is that
// of the file in errors. lookup returns a variable of the caller's environment. Errors are one
// line, FILE:LINE: problem, and contain no values.
func ReadEnvFile(
	r io.Reader, name string, lookup func(string) (string, bool),
) ([]EnvVariable, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxEnvFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > MaxEnvFile {
		return nil, fmt.Errorf("%s has more than %d bytes: not a file of variables", name, MaxEnvFile)
	}
	var all []EnvVariable
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		v, ok, err := parseEnv(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), lookup)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if ok {
			all = append(all, v)
		}
	}
	return all, nil
}

// parseEnv reads a line; ok is false if it has no variable.
func parseEnv(line string, lookup func(string) (string, bool)) (v EnvVariable, ok bool, err error) {
	if !utf8.ValidString(line) {
		return v, false, errors.New("the line is not valid UTF-8")
	}
	if strings.Contains(line, "\x00") {
		return v, false, errors.New("the line has a NUL byte, which no variable can hold")
	}
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	if line == "" || line[0] == '#' {
		return v, false, nil
	}
	v.Name, v.Value, ok = strings.Cut(line, "=")
	switch {
	case v.Name == "":
		return v, false, errors.New("no name before `=`")
	case strings.ContainsFunc(v.Name, unicode.IsSpace):
		return v, false, errors.New("the name has white space: write NAME=VALUE without spaces around `=`, and no `export`")
	case !ok:
		v.Value, ok = lookup(v.Name)
	}
	return v, ok, nil
}
