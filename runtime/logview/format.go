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

// Limits of the bytes that are kept of an unfinished line.
const (
	maxLine  = 8 << 20 // for a regex; a longer line is treated as several
	longLine = 1 << 20 // for JSON, which is then written in parts
)

// palette holds the SGR codes of prefix colors; red is reserved for errors.
var palette = []int{32, 36, 35, 33, 34, 92, 96, 95, 93, 94}

// formatter turns blocks into output. It is used by one goroutine at a time.
type formatter struct {
	o      Options
	lined  bool // output consists of lines, not of raw bytes
	match  *Matcher
	inputs []inputState
	out    []byte // to write next
	open   origin // of the unfinished line that the output ends with
	stats  Stats
	counts []int64 // blocks added, by input
	object []byte  // start of a JSON line
	long   *carry  // of the JSON line that is written in parts; nil: none
}

// inputState is an input and what of it is unfinished.
type inputState struct {
	Input
	prefix  string // with color and a space; "" for none
	attempt int
	carry   [3]carry // by stream: an unfinished line that cannot be written yet
	cached  []byte   // prefix and timestamp of blocks with the time at
	at      time.Time
}

// carry is an unfinished line.
type carry struct {
	data  []byte
	block backend.Block // the last block of the line
}

// origin is where a piece of output comes from.
type origin struct {
	input   int
	stream  backend.Stream
	attempt int
}

var (
	lineStart = origin{input: -1} // the output ends with a newline
	abandoned = origin{input: -2} // an unfinished line that no block continues
)

func newFormatter(inputs []Input, o Options) *formatter {
	f := &formatter{o: o, open: lineStart, counts: make([]int64, len(inputs))}
	f.lined = o.Prefix || o.Timestamps || o.Regex != nil
	if o.Regex != nil {
		f.match = NewMatcher(o.Regex)
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
	// Adjacent replicas of a role have different colors, whatever the selection is.
	code := palette[(int(h.Sum32()%uint32(len(palette)))+in.ID)%len(palette)]
	return "\x1b[" + strconv.Itoa(code) + "m" + in.name() + "\x1b[0m "
}

// add formats a block of input i, or a part of one; last: it completes the block.
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

// written passes on how many blocks were added before the last write.
func (f *formatter) written(counts []int64) {
	if f.o.Written != nil {
		f.o.Written(counts)
	}
}

// finish ends the unfinished lines of input i.
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
		f.open = abandoned
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

// freshLine ends an unfinished line.
func (f *formatter) freshLine() {
	if f.open == lineStart {
		return
	}
	f.out = append(f.out, '\n')
	f.open = lineStart
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

// assemble formats whole lines only and keeps the rest.
func (f *formatter) assemble(i int, b backend.Block) {
	c := &f.inputs[i].carry[streamIndex(b.Stream)]
	data := b.Data
	if len(c.data) > 0 || f.long == c {
		n := bytes.IndexByte(data, '\n') + 1
		continues := n == 0 && b.Partial
		if n == 0 {
			n = len(data)
		}
		c.data = append(c.data, data[:n]...)
		data = data[n:]
		if continues && len(c.data) < f.keepLimit() {
			c.block = b
			c.block.Data = nil // valid for this call only
			return
		}
		part := b
		part.Partial = continues
		f.line(i, part, c)
		if !continues && cap(c.data) > longLine {
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

// keepLimit returns how many bytes of an unfinished line are kept.
func (f *formatter) keepLimit() int {
	if f.match == nil {
		return longLine
	}
	return maxLine
}

// line formats the line in c, or a part of it if b is Partial.
func (f *formatter) line(i int, b backend.Block, c *carry) {
	if f.match == nil && (b.Partial || f.long == c) {
		f.jsonLong(i, b, c)
		return
	}
	f.whole(i, b, c.data)
	c.data = c.data[:0]
}

// whole formats complete lines; the last may lack its newline.
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
	f.match.Runs(data, show)
}

// text formats lines for people.
func (f *formatter) text(i int, b backend.Block, data []byte) {
	at := f.begin(i, b)
	if p := f.prefix(i, b.Time); len(p) == 0 {
		f.out = append(f.out, data...)
	} else {
		f.out = appendPrefixed(f.out, p, data, f.open == lineStart)
	}
	f.noteShown(at, b, data)
}

// begin ends an unfinished line that the block does not continue.
func (f *formatter) begin(i int, b backend.Block) origin {
	at := origin{input: i}
	if f.lined {
		at = origin{i, b.Stream, b.Attempt}
	}
	if f.open != at {
		f.freshLine()
	}
	return at
}

// noteShown updates the state after data was added to the output.
func (f *formatter) noteShown(at origin, b backend.Block, data []byte) {
	f.stats.Shown = true
	switch {
	case data[len(data)-1] == '\n':
		f.open = lineStart
	case f.lined && !b.Partial:
		f.open = abandoned
	default:
		f.open = at
	}
}

// prefix returns the prefix and timestamp of the lines of input i at a time.
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

// appendPrefixed appends data with prefix at the start of each line and after each carriage
// return. A line that begins with a carriage return has the prefix only after it. fresh: data
// begins a line.
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

// gapNotice begins notices about missing lines.
const gapNotice = "gap: "

// notice writes a line about missing output: `[gap: rotated]`.
func (f *formatter) notice(i int, b backend.Block) {
	in := &f.inputs[i]
	f.stats.Notices = append(f.stats.Notices, in.name()+": "+b.Notice)
	if f.o.JSON {
		return // the JSON output has only lines; the caller gets the notice in Stats
	}
	f.freshLine()
	f.out = append(f.out, in.prefix...)
	if strings.HasPrefix(b.Notice, gapNotice) { // needs no [notice]
		f.out = append(f.out, '[')
		f.out = append(f.out, b.Notice...)
		f.out = append(f.out, "]\n"...)
		return
	}
	f.out = append(f.out, "[notice] "...)
	f.out = append(f.out, b.Notice...)
	f.out = append(f.out, '\n')
}
