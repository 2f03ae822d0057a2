package sample

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

const (
	folder     = "usage"
	extension  = ".jsonl"
	reasonFile = "unknown" // why there are no samples
	// maxFile bounds the file of a replica in bytes; after each thinAfter bytes its samples are
	// twice as long.
	maxFile   = 1 << 20
	thinAfter = 128 << 10
	maxName   = 150  // longer names of roles are hashed; bytes
	maxReason = 1024 // bytes of reasonFile
)

// path returns the file of a replica.
func path(appDir string, r spec.Replica) string {
	name := url.PathEscape(r.Role)
	if len(name) > maxName {
		sum := sha256.Sum256([]byte(r.Role))
		name = "~" + hex.EncodeToString(sum[:])
	}
	return filepath.Join(appDir, folder, name+"-"+strconv.Itoa(r.ID)+extension)
}

// line is a sample in a file. Amounts are integers: percent are tenths. The first line of each
// process that writes the file has only Role and Replica.
type line struct {
	Time    int64  `json:"t,omitempty"` // Unix time in ms
	Attempt int    `json:"a,omitempty"`
	Length  int64  `json:"d,omitempty"` // ms
	CPU     *int64 `json:"c,omitempty"` // ms
	CPUPeak *int64 `json:"C,omitempty"` // tenths of a percent
	Memory  *int64 `json:"m,omitempty"`
	MemPeak *int64 `json:"M,omitempty"`
	Read    *int64 `json:"r,omitempty"`
	Written *int64 `json:"w,omitempty"`
	Threads *int   `json:"n,omitempty"`
	GPU     *int64 `json:"g,omitempty"` // tenths of a percent
	GPUPeak *int64 `json:"G,omitempty"`
	GPUMem  *int64 `json:"v,omitempty"`
	Source  string `json:"s,omitempty"`

	Role    string `json:"role,omitempty"`
	Replica int    `json:"replica,omitempty"`
}

func scaled(v *float64, unit float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(math.Round(*v * unit))
	return &n
}

func unscaled(n *int64, unit float64) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n) / unit
	return &v
}

func newLine(s *Sample) line {
	return line{
		Time: s.Time.UnixMilli(), Attempt: s.Attempt, Length: int64(math.Round(s.Seconds * 1e3)),
		CPU: scaled(s.CPUSeconds, 1e3), CPUPeak: scaled(s.CPUPeak, 10), Memory: s.Memory, MemPeak: s.MemoryPeak,
		Read: s.Read, Written: s.Written, Threads: s.Threads, GPU: scaled(s.GPU, 10), GPUPeak: scaled(s.GPUPeak, 10), GPUMem: s.GPUMemory,
		Source: s.Source,
	}
}

func (l *line) sample() Sample {
	return Sample{
		Time: time.UnixMilli(l.Time), Attempt: l.Attempt, Seconds: float64(l.Length) / 1e3,
		CPUSeconds: unscaled(l.CPU, 1e3), CPUPeak: unscaled(l.CPUPeak, 10), Memory: l.Memory, MemoryPeak: l.MemPeak,
		Read: l.Read, Written: l.Written, Threads: l.Threads, GPU: unscaled(l.GPU, 10), GPUPeak: unscaled(l.GPUPeak, 10), GPUMemory: l.GPUMem,
		Source: l.Source,
	}
}

// encode returns a line with its checksum, CRC-32 in hexadecimal.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode sample: %w", err)
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(data), data), nil
}

// decode returns the content of a line; ok is false if it is damaged.
func decode(text []byte, v any) (ok bool) {
	sum, data, found := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(sum), 16, 32)
	return found && err == nil && len(sum) == 8 && uint32(n) == crc32.ChecksumIEEE(data) &&
		json.Unmarshal(data, v) == nil
}

// File appends the samples of one replica. It keeps no descriptor open.
type File struct {
	appDir  string
	replica spec.Replica
	size    int64
	opened  bool
	cut     bool // the file may end in a part of a line
}

// NewFile returns the file of a replica in an app's folder. It is created with the first sample.
func NewFile(appDir string, r spec.Replica) *File { return &File{appDir: appDir, replica: r} }

// Size returns the size of the file in bytes as far as it is known.
func (f *File) Size() int64 { return f.size }

// Append writes samples with one write. A file that is as large as permitted stays as it is.
func (f *File) Append(all ...Sample) error {
	file, err := f.open()
	if err != nil {
		return err
	}
	defer file.Close()
	var data []byte
	if f.cut {
		data = append(data, '\n')
	}
	if !f.opened {
		head, err := encode(line{Role: f.replica.Role, Replica: f.replica.ID})
		if err != nil {
			return err
		}
		data = append(data, head...)
	}
	for i := range all {
		text, err := encode(newLine(&all[i]))
		if err != nil {
			return err
		}
		data = append(data, text...)
	}
	if f.size+int64(len(data)) > maxFile {
		return nil
	}
	n, err := file.Write(data)
	f.size += int64(n)
	if f.cut = err != nil; err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	f.opened = true
	return nil
}

// open opens the file. The first time it finds out whether a former writer was interrupted.
func (f *File) open() (*os.File, error) {
	name := path(f.appDir, f.replica)
	const flags = os.O_RDWR | os.O_CREATE | os.O_APPEND
	file, err := safefile.OpenFile(name, flags, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.Mkdir(filepath.Dir(name), 0o700); err == nil || errors.Is(err, os.ErrExist) {
			file, err = safefile.OpenFile(name, flags, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write sample: %w", err)
	}
	if f.opened || f.cut {
		return file, nil
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write sample: %w", err), file.Close())
	}
	if f.size = info.Size(); f.size > 0 {
		var end [1]byte
		_, err := file.ReadAt(end[:], f.size-1)
		f.cut = err != nil || end[0] != '\n'
	}
	return file, nil
}

// SetReason stores why an app has no samples, "" if it has some now.
func SetReason(appDir, reason string) error {
	name := filepath.Join(appDir, folder, reasonFile)
	if reason == "" {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("write reason: %w", err)
		}
		return nil
	}
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("write reason: %w", err)
	}
	return safefile.WriteFile(name, []byte(reason+"\n"))
}
