package logstore

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Stream is one of the two outputs of a replica.
type Stream uint8

// The streams, in the order of the index's columns.
const (
	Stdout Stream = iota
	Stderr
)

// String returns stdout or stderr.
func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// Names of the files in an attempt's folder.
const (
	StdoutFile = "stdout.log"
	StderrFile = "stderr.log"
	IndexFile  = "log.idx"
	LostFile   = "log.lost"
)

var dataFiles = [2]string{StdoutFile, StderrFile}

const (
	indexMagic = "TXIDX001"
	recordSize = 40 // size of the header and of each record

	// A chunk joins the record of the previous chunk within this time and up to this
	// size: a flood of small writes costs one record per 5 ms, and finding a line or a
	// time scans at most one record of data.
	joinWithin = 5 * time.Millisecond
	joinUpTo   = 1 << 20
)

// record is the state of both streams after one chunk.
type record struct {
	time  int64    // unix ns of the chunk's last bytes
	end   [2]int64 // bytes
	lines [2]int64 // newlines
}

func (r record) encode(b []byte) {
	for i, v := range []int64{r.time, r.end[0], r.end[1], r.lines[0], r.lines[1]} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

func decodeRecord(b []byte) record {
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return record{time: at(0), end: [2]int64{at(1), at(2)}, lines: [2]int64{at(3), at(4)}}
}

// header is the first entry of the index. It repeats the losses in log.lost, because these
// bytes can be rewritten on a full disk.
type header struct {
	lost      [2]int64 // bytes per stream
	lostLines int64    // newlines in them, both streams
	lostSince int64    // unix ns of the first loss, 0: none
}

func (h header) encode(b []byte) {
	copy(b, indexMagic)
	for i, v := range []int64{h.lost[0], h.lost[1], h.lostLines, h.lostSince} {
		binary.LittleEndian.PutUint64(b[8+8*i:], uint64(v))
	}
}

func decodeHeader(b []byte) (header, error) {
	if len(b) < recordSize || string(b[:8]) != indexMagic {
		return header{}, fmt.Errorf("not a log index: it does not start with %s", indexMagic)
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8+8*i:])) }
	return header{lost: [2]int64{at(0), at(1)}, lostLines: at(2), lostSince: at(3)}, nil
}
