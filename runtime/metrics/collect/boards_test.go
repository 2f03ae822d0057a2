package collect

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"strings"
	"testing"

	"torchx/runtime/metrics"
)

// eventFile is a name of TensorBoard's event files.
const eventFile = "events.out.tfevents.1.host"

// head returns the start of a record of length bytes.
func head(length int) []byte {
	size := binary.LittleEndian.AppendUint64(nil, uint64(length))
	return append(size, checksum(size)...)
}

func checksum(data []byte) []byte {
	c := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
}

func record(data []byte) []byte {
	return append(append(head(len(data)), data...), checksum(data)...)
}

// scalar returns an event with a value of the tag x.
func scalar(step byte, value float32) []byte {
	v := binary.LittleEndian.AppendUint32([]byte{1<<3 | 2, 1, 'x', 2<<3 | 5}, math.Float32bits(value))
	summary := append([]byte{1<<3 | 2, byte(len(v))}, v...)
	return record(append([]byte{2 << 3, step, 5<<3 | 2, byte(len(summary))}, summary...))
}

// version returns an event of about size bytes without a value.
func version(size int) []byte {
	return record(append(binary.AppendUvarint([]byte{3<<3 | 2}, uint64(size)), strings.Repeat("x", size)...))
}

// A round reads a limited part of a TensorBoard file; the next one continues, also if it has not grown.
func TestRoundOfBoardIsLimited(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	text := scalar(0, 1)
	for range roundBytes>>20 + 8 {
		text = append(text, version(1<<20)...)
	}
	if err := os.WriteFile(f.path("output", eventFile), append(text, scalar(1, 2)...), 0o600); err != nil {
		t.Fatal(err)
	}
	c := f.collector(t)
	for want := range 2 {
		if want == 0 {
			c.boards.search() // else the first round does
		}
		if err := c.pass(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		wantSteps(t, f.steps(t, "x"), want+1)
	}
}

// An event with a hole of 1 TiB, and what follows, is left out.
func TestSparseBoard(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	path := f.path("output", eventFile)
	if err := os.WriteFile(path, append(scalar(0, 1), head(1<<40-1000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		if strings.Contains(os.Getenv("TORCHX_REQUIRE"), "fallocate") {
			t.Fatal(err)
		}
		t.Skipf("%v; TORCHX_REQUIRE=fallocate makes this a failure", err)
	}
	c := f.collector(t)
	if err := errors.Join(c.pass(t.Context(), false), c.finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	all, err := metrics.Summaries(f.dir)
	if err != nil || len(all) != 1 || all[0].Count != 1 || all[0].Broken != 1 {
		t.Errorf("got %+v, %v, want the point before the hole and 1 broken event", all, err)
	}
}
