package logview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/runtime/backend"
)

var epoch = time.Unix(1_700_000_000, 123_000_000)

// script is a reader that returns given blocks.
type script struct {
	blocks []backend.Block
	err    error         // at the end; nil: io.EOF
	gate   chan struct{} // if set, each block waits for it
}

func (s *script) Next(ctx context.Context) (backend.Block, error) {
	if len(s.blocks) == 0 {
		if s.err != nil {
			return backend.Block{}, s.err
		}
		return backend.Block{}, io.EOF
	}
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return backend.Block{}, ctx.Err()
		}
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	return b, nil
}

func (s *script) Close() error { return nil }

func out(ms int, data string) backend.Block {
	return backend.Block{Time: epoch.Add(time.Duration(ms) * time.Millisecond), Stream: backend.Stdout, Data: []byte(data)}
}

func errOut(ms int, data string) backend.Block {
	b := out(ms, data)
	b.Stream = backend.Stderr
	return b
}

func part(b backend.Block) backend.Block {
	b.Partial = true
	return b
}

func inputsOf(scripts ...[]backend.Block) []Input {
	var ins []Input
	for i, blocks := range scripts {
		ins = append(ins, Input{Role: "role", ID: i, Reader: &script{blocks: blocks}})
	}
	return ins
}

func copyAll(t *testing.T, ins []Input, o Options) (string, Stats) {
	t.Helper()
	var b bytes.Buffer
	stats, err := Copy(context.Background(), &b, ins, o)
	if err != nil {
		t.Fatal(err)
	}
	if stats.Bytes != int64(b.Len()) {
		t.Errorf("stats say %d bytes, %d were written", stats.Bytes, b.Len())
	}
	return b.String(), stats
}

func TestCopy(t *testing.T) {
	t.Parallel()
	attempt := func(b backend.Block, n int) backend.Block { b.Attempt = n; return b }
	tests := []struct {
		name string
		in   [][]backend.Block
		o    Options
		want string
	}{
		{name: "nothing", in: nil, o: Options{Prefix: true}, want: ""},
		{name: "empty logs", in: [][]backend.Block{{}, {}}, o: Options{Prefix: true}, want: ""},
		{
			name: "raw bytes of one replica",
			in:   [][]backend.Block{{out(0, "a\x00\xff\r\n  b\n"), errOut(1, "c"), out(2, "d")}},
			want: "a\x00\xff\r\n  b\ncd",
		},
		{
			name: "merge by time, ties in input order", o: Options{Prefix: true},
			in: [][]backend.Block{
				{out(1, "a1\n"), out(3, "a3\n"), out(5, "a5\na5b\n")},
				{out(0, "b0\n"), out(3, "b3\n"), out(4, "b4\n")},
			},
			want: "role/1 b0\nrole/0 a1\nrole/0 a3\nrole/1 b3\nrole/1 b4\nrole/0 a5\nrole/0 a5b\n",
		},
		{
			name: "a last line without newline is ended", o: Options{Prefix: true},
			in:   [][]backend.Block{{out(0, "a")}, {out(1, "b\n"), out(2, "c")}},
			want: "role/0 a\nrole/1 b\nrole/1 c\n",
		},
		{
			name: "two streams and attempts do not share a line", o: Options{Prefix: true},
			in:   [][]backend.Block{{out(0, "a"), errOut(1, "b"), attempt(errOut(2, "c"), 1)}},
			want: "role/0 a\nrole/0 b\nrole/0 c\n",
		},
		{
			name: "an unfinished line continues", o: Options{Prefix: true},
			in:   [][]backend.Block{{part(out(0, "10%")), part(out(1, "\r20%")), out(2, "\r30%\nend\n")}},
			want: "role/0 10%\rrole/0 20%\rrole/0 30%\nrole/0 end\n",
		},
		{
			name: "pieces of a line stay together", o: Options{Prefix: true},
			in:   [][]backend.Block{{part(out(5, "a")), part(out(5, "b")), out(5, "c\n")}, {out(5, "x\n"), out(6, "y\n")}},
			want: "role/0 abc\nrole/1 x\nrole/1 y\n",
		},
		{
			name: "a line that never ends", o: Options{Prefix: true},
			in:   [][]backend.Block{{part(out(0, "a"))}, {out(1, "b\n")}},
			want: "role/0 a\nrole/1 b\n",
		},
		{
			name: "color", o: Options{Prefix: true, Color: true},
			in:   [][]backend.Block{{out(0, "a\n")}},
			want: "\x1b[COLORmrole/0\x1b[0m a\n",
		},
		{
			name: "time stamps", o: Options{Prefix: true, Timestamps: true},
			in: [][]backend.Block{{out(0, "a\rb\n"), out(1, "c\n")}},
			want: "role/0 2023-11-14T22:13:20.123000000Z a\rrole/0 2023-11-14T22:13:20.123000000Z b\n" +
				"role/0 2023-11-14T22:13:20.124000000Z c\n",
		},
		{
			name: "time stamps without prefix", o: Options{Timestamps: true},
			in:   [][]backend.Block{{out(0, "a")}},
			want: "2023-11-14T22:13:20.123000000Z a\n",
		},
		{
			name: "regex sees the line without its end and prefix", o: Options{Prefix: true, Regex: regexp.MustCompile(`^b+$`)},
			in:   [][]backend.Block{{out(0, "a\nbb\r\nxb\nb\nbbb")}},
			want: "role/0 bb\rrole/0 \nrole/0 b\nrole/0 bbb\n",
		},
		{
			name: "regex over pieces", o: Options{Regex: regexp.MustCompile(`needle`)},
			in:   [][]backend.Block{{part(out(0, "a nee")), part(out(0, "d")), out(0, "le b\nno\nneedle\n")}},
			want: "a needle b\nneedle\n",
		},
		{
			name: "notice", o: Options{Prefix: true},
			in:   [][]backend.Block{{out(0, "a"), {Notice: "7 bytes lost"}, out(1, "b\n")}},
			want: "role/0 a\nrole/0 [notice] 7 bytes lost\nrole/0 b\n",
		},
		{
			name: "json", o: Options{JSON: true, Prefix: true},
			in: [][]backend.Block{{part(out(0, "a<\"")), out(1, "\xff\rb\n"), errOut(2, "last")}, {{Notice: "gone", Attempt: 2}}},
			want: "" +
				`{"time":"2023-11-14T22:13:20.124000000Z","role":"role","replica":0,"attempt":0,"stream":"stdout","line":"a<\"\ufffd\rb"}` + "\n" +
				`{"time":"2023-11-14T22:13:20.125000000Z","role":"role","replica":0,"attempt":0,"stream":"stderr","line":"last"}` + "\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, stats := copyAll(t, inputsOf(tt.in...), tt.o)
			if tt.o.Color {
				got = regexp.MustCompile(`\x1b\[[1-9]\d*m`).ReplaceAllString(got, "\x1b[COLORm")
			}
			if got != tt.want {
				t.Errorf("got\n%q, want\n%q", got, tt.want)
			}
			if stats.Shown != (got != "") {
				t.Errorf("shown is %v for %q", stats.Shown, got)
			}
			if len(tt.in) == 1 { // following one replica prints the same
				tt.o.Follow = true
				followed, _ := copyAll(t, inputsOf(tt.in...), tt.o)
				if followed != got && !tt.o.Color {
					t.Errorf("following: got\n%q, want\n%q", followed, got)
				}
			}
		})
	}
}

type vectors struct {
	Rows []struct {
		In  []string        `json:"in"`
		Out json.RawMessage `json:"out"`
	} `json:"rows"`
}

func loadVectors(t *testing.T, name string) vectors {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Rows) == 0 {
		t.Fatalf("%s: no rows", name)
	}
	return v
}

func TestPrefixVectors(t *testing.T) {
	t.Parallel()
	for _, row := range loadVectors(t, "prefix_line.json").Rows {
		var want string
		if err := json.Unmarshal(row.Out, &want); err != nil {
			t.Fatal(err)
		}
		if row.In[0] == "" {
			want = "" // TorchX prints an empty line
		}
		if got := string(appendPrefixed(nil, []byte("role/0 "), []byte(row.In[0]), true)); got != want {
			t.Errorf("%q: got %q, want %q", row.In[0], got, want)
		}
	}
}

func TestSplitVectors(t *testing.T) {
	t.Parallel()
	for _, row := range loadVectors(t, "split_lines.json").Rows {
		var want []string
		if err := json.Unmarshal(row.Out, &want); err != nil {
			t.Fatal(err)
		}
		var blocks []backend.Block
		if row.In[0] != "" {
			blocks = append(blocks, out(0, row.In[0]))
		}
		text, _ := copyAll(t, inputsOf(blocks), Options{JSON: true})
		var got []string
		for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
			var l struct{ Line string }
			if err := d.Decode(&l); err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Line)
		}
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\n")
		}
		if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", row.In[0], got, want)
		}
	}
}

func TestColorsAreStableAndDiffer(t *testing.T) {
	t.Parallel()
	o := Options{Prefix: true, Color: true}
	seen := map[string]bool{}
	for id := range len(palette) {
		in := Input{Role: "trainer", ID: id}
		p := prefixOf(in, o)
		if p != prefixOf(in, o) {
			t.Errorf("replica %d: got two colors, want one", id)
		}
		seen[p[:strings.Index(p, "m")]] = true
	}
	if len(seen) != len(palette) {
		t.Errorf("got %d colors, want %d", len(seen), len(palette))
	}
}

func TestFailingInputDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	for _, followIt := range []bool{false, true} {
		ins := inputsOf([]backend.Block{out(0, "a\n")}, []backend.Block{out(1, "b\n"), out(2, "c\n")})
		ins[0].Reader.(*script).err = broken
		var b bytes.Buffer
		_, err := Copy(context.Background(), &b, ins, Options{Follow: followIt, Prefix: true})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "role/0") {
			t.Errorf("got error %v, want one of role/0", err)
		}
		for _, want := range []string{"role/0 a\n", "role/1 b\n", "role/1 c\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("follow %v: got %q, want %q in it", followIt, b.String(), want)
			}
		}
		ins = inputsOf([]backend.Block{out(0, "a\n")}, []backend.Block{out(1, "b\n")})
		for i := range ins {
			ins[i].Reader.(*script).err = broken
		}
		if _, err := Copy(context.Background(), io.Discard, ins, Options{Follow: followIt}); !errors.Is(err, broken) || !strings.HasSuffix(err.Error(), "(and the logs of 1 more)") {
			t.Errorf("follow %v: got error %v, want one with the number of others", followIt, err)
		}
	}
}

func TestClosedPipe(t *testing.T) {
	t.Parallel()
	for _, followIt := range []bool{false, true} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		endless := make([]backend.Block, 1000)
		for i := range endless {
			endless[i] = out(i, strings.Repeat("a line\n", 100))
		}
		ins := inputsOf(endless, []backend.Block{out(0, "x\n")})
		idle := &script{blocks: []backend.Block{out(0, "never\n")}, gate: make(chan struct{})}
		if followIt {
			ins = append(ins, Input{Role: "idle", Reader: idle})
		}
		if _, err = Copy(context.Background(), w, ins, Options{Follow: followIt, Prefix: true}); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("follow %v: got error %v, want EPIPE", followIt, err)
		}
		w.Close()
	}
}

// writes receives what is written.
type writes chan string

func (w writes) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

func TestFollowWritesImmediatelyAndEndsWithContext(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	in := Input{Role: "r", Reader: &script{blocks: []backend.Block{part(out(0, "50%")), out(1, "x\n")}, gate: gate}}
	quiet := Input{Role: "q", Reader: &script{blocks: []backend.Block{out(0, "x")}, gate: make(chan struct{})}}
	w := make(writes)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := Copy(ctx, w, []Input{in, quiet}, Options{Follow: true})
		ended <- err
	}()
	gate <- struct{}{}
	if got := <-w; got != "50%" {
		t.Errorf("got %q, want 50%%", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

// TestMatcherAgainstRegexp compares the search by literal with matching every line.
func TestMatcherAgainstRegexp(t *testing.T) {
	t.Parallel()
	lines := []string{"", "error", "an error: 5", "ERROR 12", "step 10 loss 0.5", "x\r", "äö error", "\xff\xfe", "aaa", "a.b", "foobar", "foo", "\u212Aelvin \u017Fign", "\u017F error", "Äö"}
	text := strings.Join(lines, "\n") + "\n\nlast error"
	for _, p := range []string{
		"error", "(?i)error", "^error$", "^$", "", "step [0-9]+ loss", "a{2,}", "(foo|foobar)$", "a\\.b", "[^a]$", "x$", "(?i)ERRor:", "(?i)kelvin sign", "(?i)s.*ERR", "(?i)äÖ", "\\bloss\\b.*5",
		"(error)+", "(?:xyz)*an", "er(r)or|x", "\uFFFD", "or: 5", "(?s)r.e", "\\n", "$",
	} {
		re := regexp.MustCompile(p)
		var want []string
		for l := range strings.Lines(text) {
			if re.MatchString(strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")) {
				want = append(want, l)
			}
		}
		var got []string
		NewMatcher(re).Runs([]byte(text), func(run []byte) {
			for l := range strings.Lines(string(run)) {
				got = append(got, l)
			}
		})
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: got %q, want %q", p, got, want)
		}
	}
}

// FuzzPrefix cuts a text into blocks anywhere; the result must be that of the whole text.
func FuzzPrefix(f *testing.F) {
	f.Add([]byte("a\rb\r\n\rc\nlast"), []byte{3, 1, 200})
	f.Add([]byte("\r\r\n\n\n"), []byte{1})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		var blocks []backend.Block
		rest := text
		for _, c := range cuts {
			n := min(int(c), len(rest))
			if n == 0 {
				continue
			}
			blocks = append(blocks, part(out(0, string(rest[:n]))))
			rest = rest[n:]
		}
		if len(rest) > 0 {
			blocks = append(blocks, out(0, string(rest)))
		}
		want := naivePrefix("role/0 ", string(text))
		if want != "" && !strings.HasSuffix(string(text), "\n") {
			want += "\n"
		}
		got, _ := copyAll(t, inputsOf(blocks), Options{Prefix: true})
		if got != want {
			t.Fatalf("%q in pieces %v: got\n%q, want\n%q", text, cuts, got, want)
		}
	})
}

func naivePrefix(prefix, text string) string {
	var b strings.Builder
	fresh := true
	for i := range len(text) {
		if fresh && text[i] != '\r' {
			b.WriteString(prefix)
		}
		b.WriteByte(text[i])
		fresh = text[i] == '\n'
		if text[i] == '\r' {
			b.WriteString(prefix)
		}
	}
	return b.String()
}

// TestWritten checks that blocks are reported only after they were written, and also if a
// pattern left them out.
func TestWritten(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"merged": {Prefix: true}, "raw": {}, "followed": {Prefix: true, Follow: true}, "filtered": {Regex: regexp.MustCompile("none")},
		"filtered, followed": {Regex: regexp.MustCompile("none"), Follow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			large := strings.Repeat("x", batch) + "\n"
			ins := inputsOf([]backend.Block{out(1, "a\n"), out(3, large), out(5, "c\n")})
			var got []int64
			var w bytes.Buffer
			seen := map[int64]string{1: "a\n", 2: large, 3: "c\n"}
			o.Written = func(blocks []int64) {
				n := blocks[0]
				if o.Regex == nil && n > 0 && !strings.Contains(w.String(), seen[n]) {
					t.Errorf("block %d is reported, but not written", n)
				}
				got = append(got, n)
			}
			if _, err := Copy(t.Context(), &w, ins, o); err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 || got[len(got)-1] != 3 || !slices.IsSorted(got) {
				t.Errorf("got reports %v, want growing ones up to 3", got)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestWrittenNotAfterFailure(t *testing.T) {
	t.Parallel()
	for _, follow := range []bool{false, true} {
		o := Options{Follow: follow, Written: func(blocks []int64) {
			if blocks[0] != 0 {
				t.Errorf("got %v blocks reported, want 0: nothing was written", blocks)
			}
		}}
		_, err := Copy(t.Context(), brokenPipe{}, inputsOf([]backend.Block{out(1, "a\n")}), o)
		if err == nil {
			t.Error("got no error, want EPIPE")
		}
	}
}
