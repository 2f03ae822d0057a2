package logview

import (
	"bytes"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/backend"
)

// timeFormat has a fixed width, so that columns and sorting work.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// Bounds of the bytes that are kept of an unfinished line.
const (
	maxLine  = 8 << 20 // for a regex; a longer line counts as several
	longLine = 1 << 20 // for JSON, which is then written in parts
)

// palette holds the SGR codes of prefix colors; red is left for errors.
var palette = []int{32, 36, 35, 33, 34, 92, 96, 95, 93, 94}

// formatter turns blocks into output. It is used by one goroutine at a time.
type formatter struct {
	o      Options
	lined  bool // output is made of lines, not of raw bytes
	match  *matcher
	inputs []inputState
	out    []byte // what is to be written next
	open   place  // whose unfinished line out (or what was written) ends with
	stats  Stats
	counts []int64 // blocks that were added, by input
	object []byte  // the begin of a JSON line
	long   *carry  // whose JSON line is written in parts and has not ended; nil: none
}

// inputState is what is known of one input.
type inputState struct {
	Input
	prefix  string // with color and the space behind it, "" if there is none
	attempt int
	carry   [3]carry // by stream: an unfinished line that cannot be shown yet
	cached  []byte   // prefix and time stamp of the blocks of one time
	at      time.Time
}

type carry struct {
	data  []byte
	block backend.Block // the last one that added to it
}

// place is the origin of a piece of output.
type place struct {
	input   int
	stream  backend.Stream
	attempt int
}

var (
	nowhere = place{input: -1} // output is at the start of a line
	closed  = place{input: -2} // an unfinished line that nothing continues
)

func newFormatter(inputs []Input, o Options) *formatter {
	f := &formatter{o: o, open: nowhere, counts: make([]int64, len(inputs))}
	f.lined = o.Prefix || o.Timestamps || o.Regex != nil
	if o.Regex != nil {
		f.match = newMatcher(o.Regex)
	}
	for _, in := range inputs {
		f.inputs = append(f.inputs, inputState{Input: in, prefix: prefixOf(in, o), attempt: math.MinInt})
	}
	return f
}

func prefixOf(in Input, o Options) string {
	switch {
	case !o.Prefix:
		return ""
	case !o.Color:
		return in.name() + " "
	}
	h := fnv.New32a()
	h.Write([]byte(in.Role))
	// Neighbors within a role differ, whichever of them are shown.
	code := palette[(int(h.Sum32()%uint32(len(palette)))+in.ID)%len(palette)]
	return "\x1b[" + strconv.Itoa(code) + "m" + in.name() + "\x1b[0m "
}

// add formats a block of input i, or a part of one; last: with it the block is dealt with.
func (f *formatter) add(i int, b backend.Block, last bool) {
	if last {
		f.counts[i]++
	}
	in := &f.inputs[i]
	if b.Attempt != in.attempt {
		f.finish(i)
		in.attempt = b.Attempt
	}
	switch {
	case b.Notice != "":
		f.notice(i, b)
	case f.o.JSON || f.match != nil:
		f.assemble(i, b)
	default:
		f.text(i, b, b.Data)
	}
}

// written reports what was added before the last write.
func (f *formatter) written(counts []int64) {
	if f.o.Written != nil {
		f.o.Written(counts)
	}
}

// finish ends what input i has left unfinished.
func (f *formatter) finish(i int) {
	for s := range f.inputs[i].carry {
		c := &f.inputs[i].carry[s]
		if len(c.data) > 0 || f.long == c {
			c.block.Partial = false
			f.line(i, c.block, c)
			c.data = nil
		}
	}
	if f.lined && f.open.input == i {
		f.open = closed
	}
}

// end finishes the output.
func (f *formatter) end() {
	for i := range f.inputs {
		f.finish(i)
	}
	if f.lined {
		f.freshLine()
	}
}

// freshLine goes to the start of a line.
func (f *formatter) freshLine() {
	if f.open == nowhere {
		return
	}
	f.out = append(f.out, '\n')
	f.open = nowhere
}

func streamIndex(s backend.Stream) int {
	switch s {
	case backend.Stdout:
		return 0
	case backend.Stderr:
		return 1
	}
	return 2
}

// assemble passes on whole lines only.
func (f *formatter) assemble(i int, b backend.Block) {
	c := &f.inputs[i].carry[streamIndex(b.Stream)]
	data := b.Data
	if len(c.data) > 0 || f.long == c {
		n := bytes.IndexByte(data, '\n') + 1
		goesOn := n == 0 && b.Partial
		if n == 0 {
			n = len(data)
		}
		c.data = append(c.data, data[:n]...)
		data = data[n:]
		if goesOn && len(c.data) < f.mostKept() {
			c.block = b
			c.block.Data = nil // valid for this call only
			return
		}
		part := b
		part.Partial = goesOn
		f.line(i, part, c)
		if !goesOn && cap(c.data) > longLine {
			c.data = nil
		}
	}
	if b.Partial {
		n := bytes.LastIndexByte(data, '\n') + 1
		c.data = append(c.data, data[n:]...)
		c.block = b
		c.block.Data = nil // valid for this call only
		data = data[:n]
	}
	if len(data) > 0 {
		f.whole(i, b, data)
	}
}

// mostKept is how much of an unfinished line is kept.
func (f *formatter) mostKept() int {
	if f.match == nil {
		return longLine
	}
	return maxLine
}

// line formats the line that c holds, or a part of it if it goes on.
func (f *formatter) line(i int, b backend.Block, c *carry) {
	if f.match == nil && (b.Partial || f.long == c) {
		f.jsonLong(i, b, c)
		return
	}
	f.whole(i, b, c.data)
	c.data = c.data[:0]
}

// whole formats complete lines; the last one may lack its newline.
func (f *formatter) whole(i int, b backend.Block, data []byte) {
	b.Partial = false
	show := func(run []byte) {
		if f.o.JSON {
			f.json(i, b, run)
		} else {
			f.text(i, b, run)
		}
	}
	if f.match == nil {
		show(data)
		return
	}
	f.match.runs(data, show)
}

// text formats lines for people.
func (f *formatter) text(i int, b backend.Block, data []byte) {
	at := f.begin(i, b)
	if p := f.prefix(i, b.Time); len(p) == 0 {
		f.out = append(f.out, data...)
	} else {
		f.out = appendPrefixed(f.out, p, data, f.open == nowhere)
	}
	f.went(at, b, data)
}

// begin ends an unfinished line that the block does not continue.
func (f *formatter) begin(i int, b backend.Block) place {
	at := place{input: i}
	if f.lined {
		at = place{i, b.Stream, b.Attempt}
	}
	if f.open != at {
		f.freshLine()
	}
	return at
}

// went keeps the account of data that were put out.
func (f *formatter) went(at place, b backend.Block, data []byte) {
	f.stats.Shown = true
	switch {
	case data[len(data)-1] == '\n':
		f.open = nowhere
	case f.lined && !b.Partial:
		f.open = closed
	default:
		f.open = at
	}
}

// prefix is what stands before each line of input i at that time.
func (f *formatter) prefix(i int, at time.Time) []byte {
	in := &f.inputs[i]
	if in.cached == nil || f.o.Timestamps && !at.Equal(in.at) {
		in.cached, in.at = append(in.cached[:0], in.prefix...), at
		if f.o.Timestamps {
			in.cached = append(at.UTC().AppendFormat(in.cached, timeFormat), ' ')
		}
	}
	return in.cached
}

// appendPrefixed appends data with prefix at the start of each line and after
// each carriage return. A line that begins with a carriage return has the
// prefix only behind it. fresh: data begin a line.
func appendPrefixed(out, prefix, data []byte, fresh bool) []byte {
	if bytes.IndexByte(data, '\r') >= 0 {
		return appendReturns(out, prefix, data, fresh)
	}
	for len(data) > 0 {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 {
			n = len(data)
		}
		if fresh {
			out = append(out, prefix...)
		}
		out = append(out, data[:n]...)
		data, fresh = data[n:], true
	}
	return out
}

func appendReturns(out, prefix, data []byte, fresh bool) []byte {
	for line := range bytes.Lines(data) {
		if fresh && line[0] != '\r' {
			out = append(out, prefix...)
		}
		for {
			n := bytes.IndexByte(line, '\r') + 1
			if n == 0 {
				break
			}
			out = append(append(out, line[:n]...), prefix...)
			line = line[n:]
		}
		out = append(out, line...)
		fresh = true
	}
	return out
}

// gapNotice is how notices begin that tell of missing lines.
const gapNotice = "gap: "

// notice writes a line about what is missing: `[gap: rotated]`.
func (f *formatter) notice(i int, b backend.Block) {
	in := &f.inputs[i]
	f.stats.Notices = append(f.stats.Notices, in.name()+": "+b.Notice)
	if f.o.JSON {
		return // a line is a line: the caller has the notice in Stats
	}
	f.freshLine()
	f.out = append(f.out, in.prefix...)
	if strings.HasPrefix(b.Notice, gapNotice) { // it says what it is
		f.out = append(f.out, '[')
		f.out = append(f.out, b.Notice...)
		f.out = append(f.out, "]\n"...)
		return
	}
	f.out = append(f.out, "[notice] "...)
	f.out = append(f.out, b.Notice...)
	f.out = append(f.out, '\n')
}
