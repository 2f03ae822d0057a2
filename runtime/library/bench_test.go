package library

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParseLock parses a lock of 2,000 files, as every evaluation of a library's
// component does.
func BenchmarkParseLock(b *testing.B) {
	k := &Locked{Library: Library{Name: "big", URL: "https://h/r.git", Revision: "v1"}, Commit: strings.Repeat("ab", 20)}
	for i := range 2000 {
		k.Files = append(k.Files, File{fmt.Sprintf("dir%d/file%d.star", i%100, i), SumOf(fmt.Append(nil, i))})
	}
	k.seal()
	l := &Lock{}
	l.Set(k)
	text := l.Text()
	for b.Loop() {
		if _, err := ParseLock("torchx.lock", text); err != nil {
			b.Fatal(err)
		}
	}
}
