package tfevents

import (
	"encoding/binary"
	"math"
)

// Types of elements (tensorboard/compat/proto/types.proto).
const (
	dtFloat, dtDouble, dtInt32, dtUint8, dtInt16, dtInt8 = 1, 2, 3, 4, 5, 6
	dtInt64, dtBool, dtBfloat16, dtUint16, dtHalf        = 9, 10, 14, 17, 19
	dtUint32, dtUint64                                   = 22, 23
)

// tensorScalar returns the value of a TensorProto with one number. Ok is false if the message is
// not valid; a tensor that is not one number is valid.
func tensorScalar(msg []byte) (value float64, isScalar, ok bool) {
	var dtype uint64
	var content []byte
	valid, shaped := true, true
	ok = fields(msg, func(f field) {
		switch {
		case f.number == 1 && f.kind == varint:
			dtype = f.n
		case f.number == 2 && f.kind == bytes:
			shaped, valid = hasOneElement(f.bytes)
		case f.number == 4 && f.kind == bytes:
			content = f.bytes
		}
	})
	if !ok || !valid || !shaped {
		return 0, false, ok && valid
	}
	if content != nil {
		value, isScalar = element(dtype, content)
		return value, isScalar, true
	}
	var number uint64
	switch dtype {
	case dtFloat:
		number = 5
	case dtDouble:
		number = 6
	case dtInt32, dtUint8, dtInt16, dtInt8, dtUint16:
		number = 7
	case dtInt64:
		number = 10
	case dtBool:
		number = 11
	case dtHalf, dtBfloat16:
		number = 13
	case dtUint32:
		number = 16
	case dtUint64:
		number = 17
	default:
		return 0, false, true
	}
	value, isScalar = listed(msg, number, dtype)
	return value, isScalar, true
}

// hasOneElement reports whether a TensorShapeProto is that of a scalar or has only dimensions of
// size 1, and whether it is valid.
func hasOneElement(shape []byte) (one, valid bool) {
	one, valid = true, true
	ok := fields(shape, func(f field) {
		if f.number != 2 || f.kind != bytes {
			return
		}
		var size uint64
		valid = fields(f.bytes, func(f field) {
			if f.number == 1 && f.kind == varint {
				size = f.n
			}
		}) && valid
		one = one && size == 1
	})
	return one, ok && valid
}

// listed returns the only element of a repeated field of a TensorProto, packed or not. A tensor
// without elements is zero.
func listed(msg []byte, number, dtype uint64) (value float64, isScalar bool) {
	count := 0
	fields(msg, func(f field) {
		if f.number != number {
			return
		}
		if f.kind != bytes {
			value = number64(dtype, f)
			count++
			return
		}
		for packed := f.bytes; len(packed) > 0; count++ {
			var one field
			if one, packed = unpack(packed, dtype); packed == nil {
				count = 2 // malformed
				return
			}
			value = number64(dtype, one)
		}
	})
	return value, count <= 1
}

// unpack returns the first element of a packed field and the rest, nil if the element is cut off.
func unpack(packed []byte, dtype uint64) (field, []byte) {
	switch {
	case dtype == dtFloat && len(packed) >= 4:
		return field{kind: fixed32, n: uint64(binary.LittleEndian.Uint32(packed))}, packed[4:]
	case dtype == dtDouble && len(packed) >= 8:
		return field{kind: fixed64, n: binary.LittleEndian.Uint64(packed)}, packed[8:]
	case dtype != dtFloat && dtype != dtDouble:
		if n, size := binary.Uvarint(packed); size > 0 {
			return field{kind: varint, n: n}, packed[size:]
		}
	}
	return field{}, nil
}

// number64 returns the number in a field for an element of a type.
func number64(dtype uint64, f field) float64 {
	switch {
	case f.kind != varint:
		return f.float()
	case dtype == dtUint32 || dtype == dtUint64 || dtype == dtBool:
		return float64(f.n)
	case dtype == dtHalf:
		return half(uint16(f.n))
	case dtype == dtBfloat16:
		return float64(math.Float32frombits(uint32(uint16(f.n)) << 16))
	}
	return float64(int64(f.n))
}

// element returns the only element of tensor_content, which holds elements as a little endian
// machine does.
func element(dtype uint64, b []byte) (value float64, isScalar bool) {
	size, ok := map[uint64]int{
		dtFloat: 4, dtDouble: 8, dtInt32: 4, dtUint8: 1, dtInt16: 2, dtInt8: 1, dtInt64: 8, dtBool: 1,
		dtBfloat16: 2, dtUint16: 2, dtHalf: 2, dtUint32: 4, dtUint64: 8,
	}[dtype]
	if !ok || len(b) != size {
		return 0, false
	}
	var wide [8]byte
	copy(wide[:], b)
	n := binary.LittleEndian.Uint64(wide[:])
	switch dtype {
	case dtFloat:
		return float64(math.Float32frombits(uint32(n))), true
	case dtDouble:
		return math.Float64frombits(n), true
	case dtInt8, dtInt16, dtInt32:
		shift := 64 - 8*size
		return float64(int64(n) << shift >> shift), true
	}
	return number64(dtype, field{n: n}), true
}

// half returns the value of an IEEE 754 binary16.
func half(h uint16) float64 {
	sign, exponent, fraction := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 != 0 {
		sign = -1
	}
	switch {
	case exponent == 31 && fraction == 0:
		return math.Inf(int(sign))
	case exponent == 31:
		return math.NaN()
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
