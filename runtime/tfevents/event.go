package tfevents

import (
	"math"
	"time"
)

// event calls d.each with the scalars of an Event and reports whether the message is valid.
func (d *decoder) event(msg []byte) bool {
	var s Scalar
	var summary []byte
	ok := fields(msg, func(f field) {
		switch {
		case f.number == 1 && f.kind == fixed64:
			s.Time = wallTime(f.float())
		case f.number == 2 && f.kind == varint:
			s.Step = int64(f.n)
		case f.number == 5 && f.kind == bytes:
			summary = f.bytes
		}
	})
	valid := fields(summary, func(f field) {
		if f.number == 1 && f.kind == bytes {
			ok = d.value(f.bytes, s) && ok
		}
	})
	return ok && valid
}

// value calls d.each if a Summary.Value is a scalar, and reports whether the message is valid.
func (d *decoder) value(msg []byte, s Scalar) bool {
	var isScalar, hasValue bool
	var tensor, metadata []byte
	ok := fields(msg, func(f field) {
		switch {
		case f.number == 1 && f.kind == bytes:
			s.Tag = string(f.bytes)
		case f.number == 2 && f.kind == fixed32:
			s.Value, isScalar = f.float(), true
		case f.number == 8 && f.kind == bytes:
			tensor, hasValue = f.bytes, true
		case f.number == 9 && f.kind == bytes:
			metadata = f.bytes
		}
	})
	if !isScalar && hasValue {
		scalars, valid := isOfScalars(metadata)
		if ok = ok && valid; ok && scalars {
			s.Value, isScalar, ok = tensorScalar(tensor)
		}
	}
	if ok && isScalar {
		d.each(s)
	}
	return ok
}

// isOfScalars reports whether SummaryMetadata belongs to the plugin of scalars, and whether it is
// valid. Only the first event of a tag has to have metadata.
func isOfScalars(metadata []byte) (scalars, valid bool) {
	if len(metadata) == 0 {
		return true, true
	}
	const dataClassScalar = 1
	var plugin []byte
	valid = fields(metadata, func(f field) {
		switch {
		case f.number == 1 && f.kind == bytes:
			plugin = f.bytes
		case f.number == 4 && f.kind == varint:
			scalars = f.n == dataClassScalar
		}
	})
	return scalars, fields(plugin, func(f field) {
		if f.number == 1 && f.kind == bytes {
			scalars = scalars || string(f.bytes) == "scalars"
		}
	}) && valid
}

// wallTime returns the time of seconds since 1970, zero if it is not a time between 1970 and 9999.
func wallTime(seconds float64) time.Time {
	const year10000 = 253402300800
	if !(seconds > 0 && seconds < year10000) {
		return time.Time{}
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9))
}
