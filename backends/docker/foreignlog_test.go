//go:build unix

package docker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"torchx/runtime/backend"
)

// frames returns lines as the engine sends them, with a time in ms since the epoch.
func frames(stream byte, ms int, lines ...string) []byte {
	var out []byte
	for _, line := range lines {
		at := time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.000000000Z")
		out = append(out, frame(stream, at+" "+line)...)
	}
	return out
}

// TestForeignUntimed: times are requested only if an option needs them.
func TestForeignUntimed(t *testing.T) {
	t.Parallel()
	raw := bytes.Join([][]byte{frame(frameStdout, "one\n"), frame(frameStdout, "two\n"), frame(frameStderr, "three\n")}, nil)
	o := backend.LogOptions{Untimed: true, FromLine: 2}
	f := &foreignLog{logStream: newLogStream(io.NopCloser(bytes.NewReader(raw)), timed(o)), cancel: func() {}, options: o}
	for _, want := range []string{`stdout "two\n"`, `stderr "three\n"`} {
		b, err := f.Next(t.Context())
		if got := fmt.Sprintf("%s %q", b.Stream, b.Data); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	for _, o := range []backend.LogOptions{{}, {Untimed: true, Follow: true}, {Untimed: true, Until: time.UnixMilli(1)}} {
		if !timed(o) {
			t.Errorf("%+v: no times", o)
		}
	}
}

// TestForeignBlocks: lines of one stream and time form a block, and a selection by line
// applies inside blocks.
func TestForeignBlocks(t *testing.T) {
	t.Parallel()
	raw := bytes.Join([][]byte{
		frames(frameStdout, 0, "one\n", "two\n"), frames(frameStderr, 0, "three\n"),
		frames(frameStdout, 0, "four\n"), frames(frameStdout, 100, "five\n", "si", "x\n", "seven"),
	}, nil)
	for _, c := range []struct {
		options backend.LogOptions
		want    []string
	}{
		{backend.LogOptions{}, []string{`stdout "one\ntwo\n" false`, `stderr "three\n" false`, `stdout "four\n" false`, `stdout "five\nsi" true`, `stdout "x\nseven" true`}},
		{backend.LogOptions{FromLine: 2, ToLine: 4}, []string{`stdout "two\n" false`, `stderr "three\n" false`, `stdout "four\n" false`}},
		{backend.LogOptions{Until: time.UnixMilli(50)}, []string{`stdout "one\ntwo\n" false`, `stderr "three\n" false`, `stdout "four\n" false`}},
	} {
		f := &foreignLog{logStream: newLogStream(io.NopCloser(bytes.NewReader(raw)), true), cancel: func() {}, options: c.options}
		var got []string
		for {
			b, err := f.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %q %v", b.Stream, b.Data, b.Partial))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%+v: got %v, want %v", c.options, got, c.want)
		}
	}
}
