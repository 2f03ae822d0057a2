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

// jsonLines are the streams and texts of the objects in out.
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

// TestLongJSONLine: a line that is too long to keep is one object, unless another line
// comes in between; no character is torn.
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
	torn := append(blocks[:4:4], errOut(4, "warning\n"))
	torn = append(append(torn, blocks[4:]...), end)
	got, _ := copyAll(t, inputsOf(torn), Options{JSON: true})
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

// zeros is a log of one line of NULs.
type zeros struct {
	left int // blocks, of 16 MiB as logstore has them
	data []byte
}

func (z *zeros) Close() error { return nil }

func (z *zeros) Next(context.Context) (backend.Block, error) {
	if z.left--; z.left < 0 {
		return backend.Block{}, io.EOF
	}
	return backend.Block{Stream: backend.Stdout, Data: z.data, Partial: z.left > 0}, nil
}

// watch is a writer that takes the greatest size of the heap.
type watch struct{ most uint64 }

func (w *watch) Write(p []byte) (int, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.most = max(w.most, m.HeapAlloc)
	return len(p), nil
}

// TestMemoryOfLongLines: what is kept of a line of 32 MiB is bounded.
func TestMemoryOfLongLines(t *testing.T) { //nolint:paralleltest // it measures the heap
	for name, o := range map[string]Options{
		"json": {JSON: true}, "text": {}, "prefix": {Prefix: true}, "regex": {Regex: regexp.MustCompile(`^\x00`)},
		"json and regex": {JSON: true, Regex: regexp.MustCompile(`^\x00`)},
	} {
		runtime.GC()
		w := &watch{}
		if _, err := Copy(t.Context(), w, []Input{{Role: "r", Reader: &zeros{left: 2, data: make([]byte, 16<<20)}}}, o); err != nil {
			t.Fatal(err)
		}
		const most = 256 << 20
		if w.most == 0 || w.most > most {
			t.Errorf("%s: the heap has grown to %d MiB, want at most %d", name, w.most>>20, most>>20)
		}
	}
}
