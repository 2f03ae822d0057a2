package page

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/safefile"
)

// ServeCommand is the hidden command that serves the page in the background.
const ServeCommand = "ui-server"

// Serve is the hidden command: it prints the URL on stdout, then closes it.
func Serve(ctx context.Context, f *program.Factory, args []string) error {
	o := &options{patience: idleLimit, path: "/"}
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), o) != nil {
		return errors.New("the page is served by `torchx ui -d`")
	}
	home, err := f.Env.Home()
	if err != nil {
		return err
	}
	return serve(ctx, f, home, o)
}

// startTime is how long a server in the background may take to start.
const startTime = 30 * time.Second

// start starts a server in the background and prints its URL.
func start(ctx context.Context, f *program.Factory, home string, o *options) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("create %s: %w (set TORCHX_HOME to a writable folder)", home,
			program.PathCause(err))
	}
	messages, err := safefile.OpenFile(filepath.Join(home, program.PageLog),
		os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer messages.Close()
	c := exec.Command(f.Env.Exe, ServeCommand, string(text)) //nolint:noctx // it outlives this command
	c.Dir, c.Env, c.Stderr, c.SysProcAttr = f.Env.Dir, f.Env.Vars, messages, detached()
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ready := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(out).ReadString('\n')
		ready <- err
	}()
	select {
	case err = <-ready:
	case <-time.After(startTime):
		err = errors.New("it does not answer")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if found := program.FindPage(home); err == nil && found != nil {
		f.Say("serving the page in the background (torchx ui --stop ends it)")
		return announce(ctx, f, home, o, found)
	}
	_ = c.Process.Kill() // it has no URL
	_ = c.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return lastMessage(filepath.Join(home, program.PageLog), err)
}

// lastMessage returns the error that a server in the background said.
func lastMessage(path string, err error) error {
	data, _ := safefile.ReadFile(path, 1<<20)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if why, ok := strings.CutPrefix(lines[len(lines)-1], "torchx: error: "); ok {
		return errors.New(why)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ended before it answered")
	}
	if len(data) == 0 { // of a crash, the log has a traceback
		if full := os.WriteFile(path, []byte(err.Error()+"\n"), 0o600); full != nil {
			return fmt.Errorf("start the server: %w", full) // why it could not write one
		}
	}
	return fmt.Errorf("start the server: %w (see %s)", err, path)
}

// stopTime is how long a server may take to end.
const stopTime = 10 * time.Second

// stop ends the server of a home.
func stop(ctx context.Context, f *program.Factory, home string, o *options, handle string) error {
	if handle != "" || o.Background || o.open || o.Port != "" || o.Listen != "" || o.Cert != "" ||
		o.Key != "" || o.ReadOnly {
		return program.Usagef("ui", "--stop cannot be used with other options or a handle")
	}
	found := program.FindPage(home)
	if found == nil {
		f.Say("torchx ui does not run")
		return nil
	}
	process, err := os.FindProcess(found.PID)
	if err != nil {
		return fmt.Errorf("end process %d: %w", found.PID, err)
	}
	if err := process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d: %w", found.PID, err)
	}
	for deadline := time.Now().Add(stopTime); time.Now().Before(deadline); {
		if now := program.FindPage(home); now == nil || now.PID != found.PID {
			f.Say("ended process %d", found.PID)
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("process %d does not end (kill -KILL %d kills it)", found.PID, found.PID)
}
