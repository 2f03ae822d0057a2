package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "[]",
		"SlurmctldHost=a\n": "[a:6817]",
		" slurmctldhost = a(10.0.0.1) #x\nSlurmctldHost=b\nSlurmctldPort=7000-7003\n": "[10.0.0.1:7000 b:7000]",
		"SlurmctldHost=a\nSlurmctldAddr=v\nSlurmctldHost=b\n":                         "[v:6817]",
		"#SlurmctldHost=a\nSlurmctldPort=x\nSlurmctldHost=::1":                        "[[::1]:6817]",
	} {
		if got := fmt.Sprint(parseConfig(text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestDeadController: a command that tries a controller again and again is ended when none listens,
// and goes on when one does.
func TestDeadController(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed below
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	dir := t.TempDir()
	config := filepath.Join(dir, "slurm.conf")
	script := "#!/bin/sh\nsleep 2\necho answer\n"
	err = errors.Join(
		os.WriteFile(config, []byte("SlurmctldHost=here(127.0.0.1)\nSlurmctldPort="+port+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "squeue"), []byte(script), 0o700), //nolint:gosec // a program
	)
	if err != nil {
		t.Fatal(err)
	}
	c := &Client{Environ: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "SLURM_CONF=" + config}}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if out, err := c.Run(ctx, nil, "squeue"); err != nil || string(out) != "answer\n" {
		t.Errorf("a busy controller: got %q, %v, want its answer", out, err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(ctx, nil, "squeue")
	if !errors.Is(err, backend.ErrUnavailable) || !IsUnsent(err) || !strings.Contains(err.Error(), "nothing listens at 127.0.0.1:"+port) {
		t.Errorf("a dead controller: got %v, want ErrUnavailable with its address", err)
	}
}

// TestHangingController: a command that gets no answer is ended after its time, and its error says
// what to do. The request may have arrived.
func TestHangingController(t *testing.T) {
	t.Parallel()
	c, _ := fakes(t, map[string]string{"squeue": "echo 'squeue: error: try again' >&2\nexec sleep 600", "sacct": "exec sleep 600"})
	for name, want := range map[string]string{
		"squeue": "Slurm's controller does not answer: squeue did not end within 10s: try again (see `scontrol ping`, and try again)",
		"sacct":  "the accounting service slurmdbd does not answer: sacct did not end within 12s (ask the administrator)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.Run(t.Context(), nil, name); !errors.Is(err, backend.ErrUnavailable) || err.Error() != want || IsUnsent(err) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestUnsent: only failures before the request are told to have sent nothing.
func TestUnsent(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]bool{
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)": true,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (receive failure)": false,
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":              false,
		"sbatch: error: Munge encode failed: Failed to access \"x\": No such file or directory":            true,
	} {
		if got := IsUnsent(explain("sbatch", stderr)); got != want {
			t.Errorf("%s: got %v, want %v", stderr, got, want)
		}
	}
	c := &Client{Offline: true}
	if _, err := c.Run(t.Context(), nil, "sbatch"); !IsUnsent(err) {
		t.Errorf("--offline: got %v, want that nothing was sent", err)
	}
}
