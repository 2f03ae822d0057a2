package logview

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

func TestEscapedAsPackageJSONDoes(t *testing.T) {
	t.Parallel()
	var all []byte
	for c := range 256 {
		all = append(all, byte(c), 'x')
	}
	for _, text := range []string{"", "plain", string(all), "é世界\u2028\u2029\ufffd\x7f", "\xe4\xb8", "<&>'\"\\/\b\f\n\r\t\x00"} {
		var want bytes.Buffer
		encode(&want, text)
		if got := `"` + string(appendEscaped(nil, []byte(text))) + `"` + "\n"; got != want.String() {
			t.Errorf("%q: got %s, want %s", text, got, &want)
		}
	}
}

// jsonLines returns "stream:line" of each object in out.
func jsonLines(t *testing.T, out string) (lines []string) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var l jsonLine
		if err := d.Decode(&l); err == io.EOF {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(l.Stream)+":"+l.Line)
	}
}

// TestLongJSONLine checks that a line that is too long to keep is one object, unless another
// line comes between, and that no character is split.
func TestLongJSONLine(t *testing.T) {
	t.Parallel()
	piece := strings.Repeat("世", longLine/6) + "\xe4" // ends within a character
	rest := "\xb8\x96"
	whole := strings.Repeat(strings.Repeat("世", longLine/6)+"世", 8)
	var blocks []backend.Block
	for n := range 8 {
		data := piece
		if n > 0 {
			data = rest + piece
		}
		blocks = append(blocks, part(out(n, data)))
	}
	end := out(9, rest+"\nnext\n")
	for name, test := range map[string]struct {
		blocks []backend.Block
		want   []string
	}{
		"ended":     {append(blocks[:8:8], end), []string{"stdout:" + whole, "stdout:next"}},
		"not ended": {append(blocks[:8:8], out(9, rest)), []string{"stdout:" + whole}},
	} {
		got, stats := copyAll(t, inputsOf(test.blocks), Options{JSON: true})
		lines := jsonLines(t, got)
		if strings.Join(lines, "|") != strings.Join(test.want, "|") || !stats.Shown {
			t.Errorf("%s: got %d lines, shown %v, want %d", name, len(lines), stats.Shown, len(test.want))
		}
	}
	interrupted := append(blocks[:4:4], errOut(4, "warning\n"))
	interrupted = append(append(interrupted, blocks[4:]...), end)
	got, _ := copyAll(t, inputsOf(interrupted), Options{JSON: true})
	var text strings.Builder
	for _, l := range jsonLines(t, got) {
		if l != "stderr:warning" && l != "stdout:next" {
			text.WriteString(strings.TrimPrefix(l, "stdout:"))
		}
	}
	if text.String() != whole {
		t.Errorf("with a line in between: got %d bytes, want %d", text.Len(), len(whole))
	}
}

// zeros is a log with one line of NULs.
type zeros struct {
	left int // blocks, of 16 MiB as in logstore
	data []byte
}

func (z *zeros) Close() error { return nil }

func (z *zeros) Next(context.Context) (backend.Block, error) {
	if z.left--; z.left < 0 {
		return backend.Block{}, io.EOF
	}
	return backend.Block{Stream: backend.Stdout, Data: z.data, Partial: z.left > 0}, nil
}

// heapWatcher is a writer that records the greatest size of the heap.
type heapWatcher struct{ most uint64 }

func (w *heapWatcher) Write(p []byte) (int, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.most = max(w.most, m.HeapAlloc)
	return len(p), nil
}

// TestMemoryOfLongLines checks that a line of 32 MiB takes bounded memory.
func TestMemoryOfLongLines(t *testing.T) { //nolint:paralleltest // it measures the heap
	for name, o := range map[string]Options{
		"json": {JSON: true}, "text": {}, "prefix": {Prefix: true}, "regex": {Regex: regexp.MustCompile(`^\x00`)},
		"json and regex": {JSON: true, Regex: regexp.MustCompile(`^\x00`)},
	} {
		runtime.GC()
		w := &heapWatcher{}
		if _, err := Copy(t.Context(), w, []Input{{Role: "r", Reader: &zeros{left: 2, data: make([]byte, 16<<20)}}}, o); err != nil {
			t.Fatal(err)
		}
		const most = 256 << 20
		if w.most == 0 || w.most > most {
			t.Errorf("%s: the heap grew to %d MiB, want at most %d", name, w.most>>20, most>>20)
		}
	}
}
