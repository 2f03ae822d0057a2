package logstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAppend measures the writer against plain writes to a file.
func BenchmarkAppend(b *testing.B) {
	const most = 64 << 20 // the files are overwritten after this many bytes
	for _, size := range []int{100, 64 << 10} {
		line := append(bytes.Repeat([]byte("x"), 99), '\n')
		chunk := bytes.Repeat(line, size/len(line))
		b.Run(fmt.Sprintf("floor/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			f, err := os.Create(filepath.Join(b.TempDir(), "f"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			var at int64
			for b.Loop() {
				if _, err := f.WriteAt(chunk, at); err != nil {
					b.Fatal(err)
				}
				at = (at + int64(len(chunk))) % most
			}
		})
		b.Run(fmt.Sprintf("append/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			w, err := Create(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close(false)
			for b.Loop() {
				if err := w.Append(Stdout, chunk, time.Now()); err != nil {
					b.Fatal(err)
				}
				if w.streams[0].end > most {
					w.streams[0].end = 0
				}
			}
		})
		b.Run(fmt.Sprintf("limited/%d", size), func(b *testing.B) {
			b.SetBytes(int64(len(chunk)))
			w, err := CreateLimited(b.TempDir(), most)
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close(false)
			for b.Loop() {
				if err := w.Append(Stdout, chunk, time.Now()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
