//go:build unix

package ttypipe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func listen(t *testing.T) (*Listener, string) {
	t.Helper()
	// Longer than the path of a socket can be.
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "fifo")
	if _, err := Dial(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("dial before listen: got %v, want fs.ErrNotExist", err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

func next(t *testing.T, l *Listener) Message {
	t.Helper()
	m, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func dial(t *testing.T, path string) *Sender {
	t.Helper()
	s, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMessages(t *testing.T) {
	t.Parallel()
	l, path := listen(t)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600|fs.ModeNamedPipe {
		t.Fatalf("%v %v", info.Mode(), err)
	}
	s := dial(t, path)
	for _, f := range []func() error{
		func() error { return s.Resize(24, 65535) }, s.End,
		func() error { _, err := s.Write([]byte("x\x00y")); return err },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if m := next(t, l); m.Kind != Size || m.Rows != 24 || m.Cols != 65535 {
		t.Errorf("%+v", m)
	}
	if m := next(t, l); m.Kind != End {
		t.Errorf("%+v", m)
	}
	if m := next(t, l); m.Kind != Input || string(m.Data) != "x\x00y" {
		t.Errorf("%+v", m)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("next after Close: got %v, want fs.ErrClosed", err)
	}
	if _, err := s.Write([]byte("x")); !errors.Is(err, ErrNoListener) {
		t.Errorf("write without a listener: got %v, want ErrNoListener", err)
	}
}

// TestDialWithoutListener: the FIFO of a killed agent.
func TestDialWithoutListener(t *testing.T) {
	t.Parallel()
	l, path := listen(t)
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(path); !errors.Is(err, ErrNoListener) {
		t.Errorf("%v", err)
	}
}

// TestInvalidData: after invalid data, messages are received again.
func TestInvalidData(t *testing.T) {
	t.Parallel()
	l, path := listen(t)
	defer l.Close()
	if err := os.WriteFile(path, []byte("hello\xff\xff there, this is not a message\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan Message, 1)
	go func() {
		for {
			m, err := l.Next()
			if err != nil {
				return
			}
			if m.Kind == Size {
				got <- m
				return
			}
		}
	}()
	s := dial(t, path)
	for {
		if err := s.Resize(1, 2); err != nil {
			t.Fatal(err)
		}
		select {
		case <-got:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestManyClients: messages of several clients that write more than the FIFO holds do not
// mix, and those of one client stay in order.
func TestManyClients(t *testing.T) {
	t.Parallel()
	const clients, size = 4, 200000
	l, path := listen(t)
	defer l.Close()
	var senders sync.WaitGroup
	for c := range clients {
		s := dial(t, path)
		senders.Go(func() {
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(c<<6 | i&63)
			}
			if n, err := s.Write(data); n != size || err != nil {
				t.Errorf("%d %v", n, err)
			}
		})
	}
	var got [clients]int
	for left := clients * size; left > 0; {
		m := next(t, l)
		left -= len(m.Data)
		for _, b := range m.Data {
			c := b >> 6
			if int(b&63) != got[c]&63 {
				t.Fatalf("client %d: byte %d is %d", c, got[c], b&63)
			}
			got[c]++
		}
	}
	senders.Wait()
}

// TestCloseWhileFull: Close unblocks a client that waits for room.
func TestCloseWhileFull(t *testing.T) {
	t.Parallel()
	l, path := listen(t)
	defer l.Close()
	s := dial(t, path)
	done := make(chan error)
	go func() {
		_, err := s.Write(make([]byte, 1<<20))
		done <- err
	}()
	awaitFull(t, path)
	s.Close()
	if err := <-done; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("write after Close: got %v, want %v", err, fs.ErrClosed)
	}
}

// awaitFull waits until the FIFO is full.
func awaitFull(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	room := true
	for room {
		if err := conn.Control(func(fd uintptr) {
			polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
			n, _ := unix.Poll(polled, 0)
			room = n > 0
		}); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
}
