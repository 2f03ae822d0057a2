package tfevents

import (
	"encoding/binary"
	"math"
)

// Wire types of protocol buffers (protobuf.dev/programming-guides/encoding).
const (
	varint  = 0
	fixed64 = 1
	bytes   = 2
	fixed32 = 5
)

// field is one field of a message: n has its number if it is not of the type bytes.
type field struct {
	number uint64
	kind   uint64
	n      uint64
	bytes  []byte
}

// nextField returns the first field of a message and the rest of it.
func nextField(msg []byte) (f field, rest []byte, ok bool) {
	tag, size := binary.Uvarint(msg)
	if size <= 0 || tag>>3 == 0 {
		return f, nil, false
	}
	f.number, f.kind, msg = tag>>3, tag&7, msg[size:]
	switch f.kind {
	case varint:
		f.n, size = binary.Uvarint(msg)
		return f, msg[max(size, 0):], size > 0
	case fixed64:
		if len(msg) < 8 {
			return f, nil, false
		}
		f.n = binary.LittleEndian.Uint64(msg)
		return f, msg[8:], true
	case fixed32:
		if len(msg) < 4 {
			return f, nil, false
		}
		f.n = uint64(binary.LittleEndian.Uint32(msg))
		return f, msg[4:], true
	case bytes:
		length, size := binary.Uvarint(msg)
		if size <= 0 || length > uint64(len(msg)-size) {
			return f, nil, false
		}
		msg = msg[size:]
		f.bytes = msg[:length]
		return f, msg[length:], true
	}
	return f, nil, false // groups are not used
}

// fields calls each with the fields of a message and reports whether the message is valid.
func fields(msg []byte, each func(field)) bool {
	for len(msg) > 0 {
		f, rest, ok := nextField(msg)
		if !ok {
			return false
		}
		each(f)
		msg = rest
	}
	return true
}

// float returns the value of a field of the type double or float.
func (f field) float() float64 {
	if f.kind == fixed64 {
		return math.Float64frombits(f.n)
	}
	return float64(math.Float32frombits(uint32(f.n)))
}
