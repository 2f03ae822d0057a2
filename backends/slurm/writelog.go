package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"torchx/runtime/logstore"
)

// LogCommand is the internal command that writes the log of one attempt inside the allocation:
//
//	slurm-log DIR OUT ERR [APPDIR ROLE REPLICA ATTEMPT PIDFILE]
//	                        copies two named pipes into the log in DIR until both end, and records
//	                        what the replica uses in the app's folder
//	slurm-log               does nothing: the launcher tests whether this program runs on a node
const LogCommand = "slurm-log"

// orphanTime is how long processes that outlive their replica may still write to its log.
const orphanTime = 2 * time.Second

// writeLog runs LogCommand. The launcher sends SIGUSR1 when the replica has ended.
func writeLog(args []string) (int, error) {
	switch len(args) {
	case 0:
		return 0, nil
	case 3, 8:
	default:
		return 2, fmt.Errorf("%s: want DIR OUT ERR [APPDIR ROLE REPLICA ATTEMPT PIDFILE]", LogCommand)
	}
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, logEnded)
	w, err := logstore.Create(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // the replica must not block on a full pipe
	}
	var all sync.WaitGroup
	for i, path := range args[1:3] {
		all.Go(func() { drain(w, logstore.Stream(i), path) })
	}
	defer startMeter(args[3:])()
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ended:
		select {
		case <-done:
		case <-time.After(orphanTime):
		}
	}
	if w == nil {
		return 1, err
	}
	return 0, w.Close(false)
}

// startMeter records what the replica uses until stop is called, which does not wait for a slow
// file system.
func startMeter(args []string) (stop func()) {
	m := newMeter(args)
	if m == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(meterEndTime):
		}
	}
}

// meterEndTime bounds how long the last sample may delay the end of a replica.
const meterEndTime = 200 * time.Millisecond

const drainBuffer = 64 << 10

// drain copies a pipe into a stream of the log until its end.
func drain(w *logstore.Writer, s logstore.Stream, path string) {
	f, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer f.Close()
	buf := make([]byte, drainBuffer)
	for {
		n, err := f.Read(buf)
		if n > 0 && w != nil {
			if err := w.Append(s, buf[:n], time.Now()); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil && n == 0 {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
}
