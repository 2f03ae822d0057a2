//go:build unix

// Package ttypipe sends messages from the clients of an app's terminal to its agent:
// input, window sizes, the end of the input. It uses a FIFO in the app's folder, because
// the path of a socket is limited to about 100 bytes, which homes exceed.
//
// A message is its kind, the length of its data (two bytes, little-endian) and the data.
// It is short enough for one atomic write, so that messages of several clients do not mix.
package ttypipe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Kind is the kind of a message.
type Kind byte

// The kinds.
const (
	Input Kind = 'i' // typed bytes
	Size  Kind = 's' // rows and columns, two bytes each, little-endian
	End   Kind = 'e' // no more input from this client
)

const (
	// maxMessage is the size that every system writes atomically (_POSIX_PIPE_BUF; macOS: 512).
	maxMessage = 512
	headerSize = 3
	maxData    = maxMessage - headerSize
)

// ErrNoListener is returned if no agent is listening.
var ErrNoListener = errors.New("the agent of the app is not listening")

// Message is one message; a Size has Rows and Cols.
type Message struct {
	Kind       Kind
	Data       []byte // of an Input; valid until the next message
	Rows, Cols uint16
}

// Listener is the agent's end.
type Listener struct {
	file *os.File
	r    *bufio.Reader
	buf  [maxData]byte
}

// Listen creates the FIFO, which must not exist yet.
func Listen(path string) (*Listener, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("create %s: %w (a terminal needs a TORCHX_HOME on a file system with FIFOs)", path, err)
	}
	// Also for writing, so that it stays open when the last client disconnects.
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("listen for clients: %w", err)
	}
	return &Listener{file: f, r: bufio.NewReader(f)}, nil
}

// Next returns the next message. It skips invalid data. After Close it returns
// fs.ErrClosed.
func (l *Listener) Next() (Message, error) {
	for {
		var h [headerSize]byte
		if _, err := io.ReadFull(l.r, h[:]); err != nil {
			return Message{}, fmt.Errorf("read from clients: %w", err)
		}
		size := int(binary.LittleEndian.Uint16(h[1:]))
		if size > maxData {
			l.resync()
			continue
		}
		data := l.buf[:size]
		if _, err := io.ReadFull(l.r, data); err != nil {
			return Message{}, fmt.Errorf("read from clients: %w", err)
		}
		switch kind := Kind(h[0]); {
		case kind == Input:
			return Message{Kind: kind, Data: data}, nil
		case kind == Size && size == 4:
			return Message{Kind: kind, Rows: binary.LittleEndian.Uint16(data), Cols: binary.LittleEndian.Uint16(data[2:])}, nil
		case kind == End:
			return Message{Kind: kind}, nil
		}
		l.resync()
	}
}

// Each passes the messages to handle until Close. It reports another end to report.
func (l *Listener) Each(handle func(Message), report func(error)) {
	for {
		m, err := l.Next()
		if err != nil {
			if !errors.Is(err, fs.ErrClosed) {
				report(err)
			}
			return
		}
		handle(m)
	}
}

// resync drops buffered data after invalid data, because nothing marks the start of the
// next message.
func (l *Listener) resync() { _, _ = l.r.Discard(l.r.Buffered()) }

// Close ends listening and removes the FIFO.
func (l *Listener) Close() error {
	err := os.Remove(l.file.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.file.Close())
}

// Sender is a client's end. Its methods may be called from several goroutines.
type Sender struct{ file *os.File }

// Dial connects to the agent. Errors: fs.ErrNotExist, ErrNoListener.
func Dial(path string) (*Sender, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, unix.ENXIO):
		return nil, ErrNoListener
	case err != nil:
		return nil, fmt.Errorf("connect to the agent: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		f.Close()
		return nil, fmt.Errorf("connect to the agent: %s is not a named pipe (remove it)", path)
	}
	return &Sender{f}, nil
}

// Write sends input. It blocks while the replica does not read its input.
func (s *Sender) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		piece := p[n:min(len(p), n+maxData)]
		if err = s.send(Input, piece); err == nil {
			n += len(piece)
		}
	}
	return n, err
}

// Resize sends the size of the client's window.
func (s *Sender) Resize(rows, cols uint16) error {
	data := binary.LittleEndian.AppendUint16(nil, rows)
	return s.send(Size, binary.LittleEndian.AppendUint16(data, cols))
}

// End sends the end of the input.
func (s *Sender) End() error { return s.send(End, nil) }

func (s *Sender) send(kind Kind, data []byte) error {
	m := append(make([]byte, 0, headerSize+len(data)), byte(kind))
	m = binary.LittleEndian.AppendUint16(m, uint16(len(data)))
	_, err := s.file.Write(append(m, data...))
	if errors.Is(err, unix.EPIPE) {
		return ErrNoListener
	}
	return err
}

// Close closes the connection and unblocks Write.
func (s *Sender) Close() error { return s.file.Close() }
