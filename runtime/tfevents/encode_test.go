package tfevents_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// The encoder of the tests, written from the formats' descriptions alone.

// record returns data framed as a record.
func record(data []byte) []byte {
	masked := func(b []byte) []byte {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out := append(head, masked(head)...)
	return append(append(out, data...), masked(data)...)
}

// key starts a field: its number and wire type.
func key(number, kind int) []byte { return binary.AppendUvarint(nil, uint64(number<<3|kind)) }

func varintField(number int, n uint64) []byte { return binary.AppendUvarint(key(number, 0), n) }

func doubleField(number int, v float64) []byte {
	return binary.LittleEndian.AppendUint64(key(number, 1), math.Float64bits(v))
}

func floatField(number int, v float32) []byte {
	return binary.LittleEndian.AppendUint32(key(number, 5), math.Float32bits(v))
}

// message returns a field with the concatenation of parts.
func message(number int, parts ...[]byte) []byte {
	all := join(parts...)
	return append(binary.AppendUvarint(key(number, 2), uint64(len(all))), all...)
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// event returns the record of an event with values: the fields of Summary.Value.
func event(wall float64, step int64, values ...[]byte) []byte {
	var summary []byte
	for _, v := range values {
		summary = append(summary, message(1, v)...)
	}
	return record(join(doubleField(1, wall), varintField(2, uint64(step)), message(5, summary)))
}

func tag(name string) []byte { return message(1, []byte(name)) }

// scalar is what add_scalar writes: simple_value.
func scalar(name string, v float32) []byte { return join(tag(name), floatField(2, v)) }

// tensor is what new_style=True and TensorFlow 2 write.
func tensor(name, plugin string, parts ...[]byte) []byte {
	return join(tag(name), message(8, parts...), message(9, message(1, message(1, []byte(plugin)))))
}

func dtype(n uint64) []byte { return varintField(1, n) }

func shape(sizes ...uint64) []byte {
	var dims []byte
	for _, n := range sizes {
		dims = append(dims, message(2, varintField(1, n))...)
	}
	return message(2, dims)
}
