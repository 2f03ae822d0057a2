// Package tfevents reads scalars from the event files of TensorBoard, as TensorFlow and PyTorch's
// SummaryWriter write them.
//
// An event file is a sequence of records: the length of the data (8 bytes, little endian), a
// checksum of the length, the data and a checksum of the data
// (tensorflow/core/lib/io/record_writer.h). The data is a protocol buffer message of the type
// Event (tensorboard/compat/proto/event.proto).
package tfevents

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"time"
)

// Scalar is one value of a tag. Time is zero if the event has no valid time. Value may be NaN or
// infinite.
type Scalar struct {
	Tag   string
	Time  time.Time
	Step  int64
	Value float64
}

// ErrDamaged is the error of Read for a record whose checksum does not match: what follows cannot
// be read.
var ErrDamaged = errors.New("damaged event file")

// Sizes of the parts of a record in bytes.
const (
	headSize = 12 // length and its checksum
	tailSize = 4  // checksum of the data
)

// maxDecoded is the size of the largest event that is decoded. Larger ones hold images, audio or
// graphs; their checksum is tested without keeping them in memory.
const maxDecoded = 16 << 20

// IsFile reports whether a file of this name, without its folder, is an event file
// (tensorboard/backend/event_processing/io_wrapper.py).
func IsFile(name string) bool {
	return strings.Contains(name, "tfevents") && !strings.HasSuffix(name, ".profile-empty")
}

// Read calls each with the scalars of a file of size bytes, from the record at offset on, in the
// order of the file. It returns the offset of the first record that it has not read: the file's
// writer may complete that one later. Broken is the number of records that are not events although
// their checksums match. The error is ErrDamaged or an error of r.
func Read(
	r io.ReaderAt, size, offset int64, each func(Scalar),
) (next int64, broken int, err error) {
	if offset < 0 || offset >= size {
		return offset, 0, nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, offset, size-offset), 64<<10)
	d := decoder{each: each}
	for next = offset; ; {
		n, err := d.record(in, size-next)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return next, d.broken, nil
		}
		if err != nil {
			return next, d.broken, err
		}
		next += n
	}
}

// decoder decodes the events of one file.
type decoder struct {
	each   func(Scalar)
	data   []byte // of the current record
	broken int
}

// record reads one record and returns its size. At most left bytes remain in the file.
func (d *decoder) record(in *bufio.Reader, left int64) (size int64, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, err
	}
	length := binary.LittleEndian.Uint64(head[:])
	if maskedCRC(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return 0, ErrDamaged
	}
	if length > math.MaxInt64-headSize-tailSize || int64(length) > left-headSize-tailSize {
		return 0, io.EOF
	}
	sum, err := d.read(in, int64(length))
	if err != nil {
		return 0, err
	}
	var tail [tailSize]byte
	if _, err := io.ReadFull(in, tail[:]); err != nil {
		return 0, err
	}
	if sum != binary.LittleEndian.Uint32(tail[:]) {
		return 0, ErrDamaged
	}
	if !d.event(d.data) {
		d.broken++
	}
	return headSize + int64(length) + tailSize, nil
}

// read reads the data of a record into d.data, none if it is large, and returns its checksum.
func (d *decoder) read(in io.Reader, length int64) (sum uint32, err error) {
	if length > maxDecoded {
		d.data = d.data[:0]
		hash := crc32.New(castagnoli())
		_, err := io.CopyN(hash, in, length)
		return mask(hash.Sum32()), err
	}
	if int64(cap(d.data)) < length {
		d.data = make([]byte, length)
	}
	d.data = d.data[:length]
	_, err = io.ReadFull(in, d.data)
	return maskedCRC(d.data), err
}

// castagnoli returns the table of CRC-32C, which the first call makes.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func maskedCRC(data []byte) uint32 { return mask(crc32.Checksum(data, castagnoli())) }

// mask is the rotation and offset of tensorflow/core/lib/hash/crc32c.h, so that the checksum of
// data that holds checksums is not weak.
func mask(sum uint32) uint32 { return (sum>>15 | sum<<17) + 0xa282ead8 }
