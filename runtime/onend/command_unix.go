//go:build unix

package onend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"torchx/runtime/safefile"
)

// outputWait is how long output is read after the end of a command that left processes with
// its output open.
const outputWait = time.Second

// evaluate runs the command in a variable, which it removes. All users of the machine can read
// the arguments of a process, and a command may contain secrets.
const evaluate = `eval "unset TORCHX_ON_END; $TORCHX_ON_END"`

// run runs a command with the summary on its stdin. All its processes are killed at the time
// limit.
func (p *performer) run(command string) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	out := &bounded{most: maxOutput}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", evaluate)
	cmd.Env = append(append(os.Environ(), p.variables()...), "TORCHX_ON_END="+command)
	cmd.Dir = p.end.Dir
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		cmd.Dir = string(filepath.Separator)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(p.text()), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputWait
	err := cmd.Run()
	if saveErr := p.save(command, out); saveErr != nil {
		p.log.Print(saveErr)
	}
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return fmt.Errorf("killed because it ran longer than %s", durationText(p.limit))
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it succeeded
	case errors.As(err, &exit):
		how := fmt.Sprintf("exit code %d", exit.ExitCode())
		if exit.ExitCode() < 0 {
			how = exit.String() // "signal: killed"
		}
		return errors.New(how + out.lastLine())
	}
	return err
}

// save appends the output of a command to outputFile.
func (p *performer) save(command string, out *bounded) error {
	if out.kept.Len() == 0 {
		return nil
	}
	f, err := safefile.OpenFile(filepath.Join(p.dir, outputFile),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "== %s\n%s", Label(command, p.rules), out.kept.Bytes())
	if err == nil && out.dropped > 0 {
		_, err = fmt.Fprintf(f, "\n== %d more bytes are dropped\n", out.dropped)
	}
	return errors.Join(err, f.Close())
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	most    int
	kept    bytes.Buffer
	dropped int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:n])
	b.dropped += len(p) - n
	return len(p), nil
}

// lastLine returns the last line of the kept output for a message: ` (LINE)`, "" for none.
func (b *bounded) lastLine() string {
	text := strings.TrimRight(b.kept.String(), "\n")
	line := []rune(strings.TrimSpace(strings.ToValidUTF8(text[strings.LastIndexByte(text, '\n')+1:], "?")))
	if len(line) == 0 {
		return ""
	}
	return " (" + string(line[:min(len(line), 200)]) + ")"
}
