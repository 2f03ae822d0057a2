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
	script := "#!/bin/sh\nsleep 4\necho answer\n"
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
	if !errors.Is(err, backend.ErrUnavailable) || !strings.Contains(err.Error(), "nothing listens at 127.0.0.1:"+port) {
		t.Errorf("a dead controller: got %v, want ErrUnavailable with its address", err)
	}
}
