package tfevents_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"
	"testing/iotest"
	"time"

	"torchx/runtime/tfevents"
)

// version is the first record of every event file.
func version() []byte {
	return record(join(doubleField(1, 1700000000), message(3, []byte("brain.Event:2"))))
}

// read returns the scalars as text, and the other results of Read.
func read(t *testing.T, file []byte, offset int64) (got []string, next int64, broken int, err error) {
	t.Helper()
	next, broken, err = tfevents.Read(bytes.NewReader(file), int64(len(file)), offset, func(s tfevents.Scalar) {
		got = append(got, fmt.Sprintf("%s %d %v", s.Tag, s.Step, s.Value))
	})
	return got, next, broken, err
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestReadKinds(t *testing.T) {
	t.Parallel()
	le32 := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	le64 := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	packedFloat := message(5, le32(math.Float32bits(0.5)))
	for _, c := range []struct {
		name  string
		value []byte
		want  string
	}{
		{"simple_value", scalar("t", 0.25), "[t 7 0.25]"},
		{"simple_value NaN", scalar("t", float32(math.NaN())), "[t 7 NaN]"},
		{"simple_value infinite", scalar("t", float32(math.Inf(-1))), "[t 7 -Inf]"},
		{"simple_value zero", scalar("t", 0), "[t 7 0]"},
		{"float_val packed", tensor("t", "scalars", dtype(1), packedFloat), "[t 7 0.5]"},
		{"float_val not packed", tensor("t", "scalars", dtype(1), floatField(5, 0.5)), "[t 7 0.5]"},
		{"double_val", tensor("t", "scalars", dtype(2), message(6, le64(math.Float64bits(0.1)))), "[t 7 0.1]"},
		{"int_val", tensor("t", "scalars", dtype(3), varintField(7, uint64(1<<64-3))), "[t 7 -3]"},
		{"int64_val", tensor("t", "scalars", dtype(9), message(10, []byte{0x96, 1})), "[t 7 150]"},
		{"bool_val", tensor("t", "scalars", dtype(10), message(11, []byte{1})), "[t 7 1]"},
		{"half_val", tensor("t", "scalars", dtype(19), varintField(13, 0x3800)), "[t 7 0.5]"},
		{"bfloat16", tensor("t", "scalars", dtype(14), varintField(13, 0x3f00)), "[t 7 0.5]"},
		{"uint32_val", tensor("t", "scalars", dtype(22), varintField(16, 1<<31)), "[t 7 2.147483648e+09]"},
		{"uint64_val", tensor("t", "scalars", dtype(23), varintField(17, 1<<63)), "[t 7 9.223372036854776e+18]"},
		{"content float", tensor("t", "scalars", dtype(1), shape(), message(4, le32(math.Float32bits(2)))), "[t 7 2]"},
		{"content double", tensor("t", "scalars", dtype(2), message(4, le64(math.Float64bits(2.5)))), "[t 7 2.5]"},
		{"content int32", tensor("t", "scalars", dtype(3), message(4, le32(1<<32-5))), "[t 7 -5]"},
		{"content int64", tensor("t", "scalars", dtype(9), message(4, le64(1<<40))), "[t 7 1.099511627776e+12]"},
		{"content half subnormal", tensor("t", "scalars", dtype(19), message(4, []byte{1, 0})), "[t 7 5.960464477539063e-08]"},
		{"content half infinite", tensor("t", "scalars", dtype(19), message(4, []byte{0, 0xfc})), "[t 7 -Inf]"},
		{"no element is zero", tensor("t", "scalars", dtype(1), shape()), "[t 7 0]"},
		{"shape of ones", tensor("t", "scalars", dtype(1), shape(1, 1), packedFloat), "[t 7 0.5]"},
		{"without metadata", join(tag("t"), message(8, dtype(1), packedFloat)), "[t 7 0.5]"},
		{"data class", join(tag("t"), message(8, dtype(1), packedFloat), message(9, varintField(4, 1))), "[t 7 0.5]"},
		{"name that is not ASCII", scalar("perte/été", 1), "[perte/été 7 1]"},
		{"vector", tensor("t", "scalars", dtype(1), shape(2), message(5, le32(1), le32(2))), "[]"},
		{"string", tensor("t", "text", dtype(7), message(8, []byte("hello"))), "[]"},
		{"other plugin", tensor("t", "hparams", dtype(1), packedFloat), "[]"},
		{"histogram", join(tag("t"), message(5, doubleField(1, 1))), "[]"},
		{"image", join(tag("t"), message(4, varintField(1, 9))), "[]"},
		{"tag alone", tag("t"), "[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := join(version(), event(1700000001.5, 7, c.value))
			got, next, broken, err := read(t, file, 0)
			equal(t, "scalars", got, c.want)
			equal(t, "next, broken, err", []any{next, broken, err}, []any{len(file), 0, nil})
		})
	}
}

func TestReadTimes(t *testing.T) {
	t.Parallel()
	for wall, want := range map[float64]time.Time{
		1700000001.5: time.Unix(1700000001, 5e8), 0: {}, -1: {}, math.Inf(1): {}, math.NaN(): {}, 1e300: {},
	} {
		file := event(wall, -4, scalar("a", 1), scalar("b", 2))
		var got []tfevents.Scalar
		_, _, err := tfevents.Read(bytes.NewReader(file), int64(len(file)), 0, func(s tfevents.Scalar) { got = append(got, s) })
		if err != nil || len(got) != 2 || !got[0].Time.Equal(want) || got[1].Step != -4 {
			t.Errorf("time %v: got %v, %v, want two scalars at %v, step -4", wall, got, err, want)
		}
	}
}

// A file that grows is read from the returned offset on: wherever it is cut, all scalars come once.
func TestReadGrowing(t *testing.T) {
	t.Parallel()
	file := join(version(), event(1, 1, scalar("a", 1)), event(2, 2, scalar("a", 2)), event(3, 3, scalar("a", 3)))
	for cut := range len(file) {
		first, next, broken, err := read(t, file[:cut], 0)
		equal(t, fmt.Sprintf("broken, err at cut %d", cut), []any{broken, err}, []any{0, nil})
		second, end, _, err := read(t, file, next)
		if err != nil || int(end) != len(file) {
			t.Fatalf("after cut %d: got end %d, %v, want %d", cut, end, err, len(file))
		}
		equal(t, "scalars", append(first, second...), "[a 1 1 a 2 2 a 3 3]")
	}
	if _, next, _, err := read(t, file, int64(len(file))+9); err != nil || int(next) != len(file)+9 {
		t.Errorf("offset after the end: got %d, %v, want %d", next, err, len(file)+9)
	}
}

// A changed byte anywhere in a record ends the file there.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	good := join(version(), event(1, 1, scalar("a", 1)))
	bad := event(2, 2, scalar("a", 2))
	for at := range bad {
		file := join(good, bad, event(3, 3, scalar("a", 3)))
		file[len(good)+at] ^= 0x10
		got, next, broken, err := read(t, file, 0)
		equal(t, fmt.Sprintf("byte %d", at), []any{got, next, broken}, []any{"[a 1 1]", len(good), 0})
		if !errors.Is(err, tfevents.ErrDamaged) {
			t.Errorf("byte %d: got %v, want %v", at, err, tfevents.ErrDamaged)
		}
	}
	zeros := join(good, make([]byte, 64)) // a power cut left the size without the data
	if _, next, _, err := read(t, zeros, 0); !errors.Is(err, tfevents.ErrDamaged) || int(next) != len(good) {
		t.Errorf("zeros: got %d, %v, want %d, %v", next, err, len(good), tfevents.ErrDamaged)
	}
}

func TestReadNotAnEvent(t *testing.T) {
	t.Parallel()
	file := join(record([]byte{0xff}), record(message(5, message(1, []byte{0x0a, 0x7f}))), event(1, 1, scalar("a", 1)))
	got, next, broken, err := read(t, file, 0)
	equal(t, "results", []any{got, next, broken, err}, []any{"[a 1 1]", len(file), 2, nil})
}

// The size of a record is not trusted.
func TestReadHugeLength(t *testing.T) {
	t.Parallel()
	for _, length := range []uint64{1 << 63, math.MaxUint64, math.MaxInt64 - 3, 1 << 40} {
		head := binary.LittleEndian.AppendUint64(nil, length)
		frame := record(head) // has the checksum of head after the first 12+8 bytes
		file := append(head, frame[20:]...)
		got, next, broken, err := read(t, append(file, "tail"...), 0)
		equal(t, fmt.Sprint(length), []any{got, next, broken, err}, []any{"[]", 0, 0, nil})
	}
}

// A large record is checked and skipped.
func TestReadLargeRecord(t *testing.T) {
	t.Parallel()
	image := join(tag("image"), message(4, make([]byte, 17<<20)))
	file := join(event(1, 1, image), event(2, 2, scalar("a", 2)))
	got, next, broken, err := read(t, file, 0)
	equal(t, "results", []any{got, next, broken, err}, []any{"[a 2 2]", len(file), 0, nil})
	file[1<<20] ^= 1
	if _, _, _, err := read(t, file, 0); !errors.Is(err, tfevents.ErrDamaged) {
		t.Errorf("changed byte: got %v, want %v", err, tfevents.ErrDamaged)
	}
}

type readerAt struct{ io.Reader }

func (r readerAt) ReadAt(p []byte, _ int64) (int, error) { return r.Read(p) }

func TestReadError(t *testing.T) {
	t.Parallel()
	failure := errors.New("input/output error")
	next, _, err := tfevents.Read(readerAt{iotest.ErrReader(failure)}, 100, 0, func(tfevents.Scalar) {})
	if !errors.Is(err, failure) || next != 0 {
		t.Errorf("got %d, %v, want 0, %v", next, err, failure)
	}
	// A file that was shortened after its size was read ends early.
	next, _, err = tfevents.Read(bytes.NewReader(version()), 1000, 0, func(tfevents.Scalar) {})
	if err != nil || int(next) != len(version()) {
		t.Errorf("shortened: got %d, %v, want %d", next, err, len(version()))
	}
}

func TestIsFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"events.out.tfevents.1700000000.host.12.0": true, "events.out.tfevents.1.h.profile-empty": false, "model.pt": false,
	} {
		if got := tfevents.IsFile(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// FuzzRead checks that no input panics or passes the file's end, and that reading in two steps
// gives the same scalars.
func FuzzRead(f *testing.F) {
	f.Add(join(version(), event(1, 1, scalar("a", 1)), event(2, 2, tensor("b", "scalars", dtype(1), shape(), floatField(5, 1)))), 10)
	f.Add(record([]byte{0xff}), 0)
	f.Add(join(event(1, 1, tensor("b", "scalars", dtype(19), message(13, []byte{0x80, 0x80}))), make([]byte, 40)), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		for _, file := range [][]byte{data, record(data), event(1, 1, data), event(1, 1, join(tag("t"), message(8, data)))} {
			want, end, _, _ := read(t, file, 0)
			if end < 0 || int(end) > len(file) {
				t.Fatalf("got end %d, want at most %d", end, len(file))
			}
			first, next, _, _ := read(t, file[:min(max(cut, 0), len(file))], 0)
			second, _, _, _ := read(t, file, next)
			equal(t, "scalars in two steps", append(first, second...), want)
		}
	})
}
