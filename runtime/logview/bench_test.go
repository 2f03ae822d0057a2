package logview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logstore"
)

const benchSize = 256 << 20

// benchLog writes a log of lines of about 100 bytes.
func benchLog(b *testing.B, streams int) logstore.Source {
	b.Helper()
	dir := b.TempDir()
	w, err := logstore.Create(dir)
	if err != nil {
		b.Fatal(err)
	}
	var chunk []byte
	for n := 0; len(chunk) < 64<<10; n++ {
		chunk = fmt.Appendf(chunk, "2026-01-01T00:00:00 INFO trainer step %06d loss 0.%05d lr 0.0003 tokens/s 123456 mem 40.2 GiB\n", n, n*7919%100000)
	}
	at := time.Unix(1_700_000_000, 0)
	for n := 0; n*len(chunk) < benchSize; n++ {
		if err := w.Append(logstore.Stream(n/16%streams), chunk, at.Add(time.Duration(n)*time.Millisecond/4)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(false); err != nil {
		b.Fatal(err)
	}
	return logstore.Source{
		Dir:   func(int) string { return dir },
		State: func() (int, bool, error) { return 1, true, nil },
	}
}

func devNull(b *testing.B) *os.File {
	b.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// BenchmarkRead measures reading a finished log; floor copies the same file as cat does.
func BenchmarkRead(b *testing.B) {
	src := benchLog(b, 1)
	both := benchLog(b, 2)
	null := devNull(b)
	b.Run("floor", func(b *testing.B) {
		buf := make([]byte, 128<<10)
		for b.Loop() {
			f, err := os.Open(filepath.Join(src.Dir(0), logstore.StdoutFile))
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.CopyBuffer(struct{ io.Writer }{null}, struct{ io.Reader }{f}, buf)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(n)
			f.Close()
		}
	})
	run := func(name string, src logstore.Source, lo backend.LogOptions, o Options) {
		lo.Tail = -1
		b.Run(name, func(b *testing.B) {
			b.SetBytes(benchSize)
			for b.Loop() {
				r, err := logstore.Open(src, lo)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Copy(context.Background(), null, []Input{{Role: "trainer", Reader: r}}, o); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
	one := backend.LogOptions{Stream: backend.Stdout}
	run("raw/stdout", src, one, Options{})
	run("raw/combined", src, backend.LogOptions{}, Options{})
	run("raw/combined-of-two", both, backend.LogOptions{}, Options{})
	run("raw/follow", src, backend.LogOptions{Follow: true}, Options{Follow: true})
	run("prefix", src, backend.LogOptions{}, Options{Prefix: true})
	run("prefix/follow", src, backend.LogOptions{Follow: true}, Options{Prefix: true, Follow: true})
	run("timestamps", src, backend.LogOptions{}, Options{Prefix: true, Timestamps: true})
	run("json", src, backend.LogOptions{}, Options{JSON: true})
	for name, p := range map[string]string{"literal-rare": "step 00042", "literal-all": "INFO", "class-rare": `loss 0\.0000[0-9] `, "no-literal": `[4]{5}`, "fold": `(?i)error`} {
		run("regex/"+name, src, backend.LogOptions{}, Options{Prefix: true, Regex: regexp.MustCompile(p)})
	}
}

// BenchmarkSeek measures the time to the first line of a part of a large log.
func BenchmarkSeek(b *testing.B) {
	src := benchLog(b, 1)
	middle := time.Unix(1_700_000_000, 0).Add(benchSize / (64 << 10) / 8 * time.Millisecond)
	for name, o := range map[string]backend.LogOptions{
		"since": {Tail: -1, Since: middle}, "line": {Tail: -1, FromLine: 1_000_000}, "tail": {Tail: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := logstore.Open(src, o)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Next(context.Background()); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}

// writeTimes receives the time of each write.
type writeTimes chan time.Time

func (s writeTimes) Write(p []byte) (int, error) {
	s <- time.Now()
	return len(p), nil
}

// BenchmarkFollowLatency measures the time from the start of Append until the view writes
// the line.
func BenchmarkFollowLatency(b *testing.B) {
	dir := b.TempDir()
	w, err := logstore.Create(dir)
	if err != nil {
		b.Fatal(err)
	}
	src := logstore.Source{
		Dir:   func(int) string { return dir },
		State: func() (int, bool, error) { return 1, false, nil },
	}
	r, err := logstore.Open(src, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	written := make(writeTimes, 1)
	go func() {
		defer close(ended)
		_, _ = Copy(ctx, written, []Input{{Role: "r", Reader: r}}, Options{Follow: true, Prefix: true})
	}()
	line := append(bytes.Repeat([]byte("x"), 99), '\n')
	var all []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := w.Append(logstore.Stdout, line, began); err != nil {
			b.Fatal(err)
		}
		all = append(all, (<-written).Sub(began))
	}
	cancel()
	<-ended
	r.Close()
	w.Close(false)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}
