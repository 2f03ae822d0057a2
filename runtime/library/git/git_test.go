package git

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestFailureIsOneTellingLine(t *testing.T) {
	t.Parallel()
	exit := exec.Command("sh", "-c", "exit 1").Run()
	for said, want := range map[string]string{
		"fatal: repository 'x' not found\n":                     "repository 'x' not found",
		"warning: redirecting\nerror: pathspec\nfatal: later\n": "pathspec",
		"host: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have\n": "host: Permission denied (publickey). (is your key known there",
		"fatal: could not read Username for 'https://h': terminal prompts disabled":                                            "it needs a login: set up a credential helper",
		"nothing known\n": "nothing known",
		"":                "git failed: exit status 1",
	} {
		err := failure(exit, said)
		if !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q became %q, want %q", said, err, want)
		}
	}
}

// TestEnvironment: what a hook sets does not lead git astray, and git asks nothing.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := &Client{Env: []string{"GIT_DIR=/x", "GIT_INDEX_FILE=y", "PATH=/bin", "GIT_ALLOW_PROTOCOL=ext"}}
	env := c.environment()
	if slices.Contains(env, "GIT_DIR=/x") || slices.Contains(env, "GIT_INDEX_FILE=y") || !slices.Contains(env, "PATH=/bin") {
		t.Errorf("environment %q", env)
	}
	last := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		last[name] = value
	}
	if last["GIT_ALLOW_PROTOCOL"] != "https:ssh:file" || last["GIT_TERMINAL_PROMPT"] != "0" {
		t.Errorf("environment %q", env)
	}
}

func TestArgumentsBehindTheMark(t *testing.T) {
	t.Parallel()
	c := &Client{Program: "echo"}
	_, err := c.Look(context.Background(), "--upload-pack=touch x")
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.run(context.Background(), "", "ls-remote", "--", "--upload-pack=x")
	if err != nil || !strings.HasSuffix(string(out), " ls-remote -- --upload-pack=x\n") {
		t.Errorf("git was called with %q, %v", out, err)
	}
}

func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("Ctrl-C")
	cancel(stop)
	if _, err := (&Client{}).run(ctx, "", "version"); !errors.Is(err, stop) {
		t.Errorf("error %v, want %v", err, stop)
	}
}

func TestParseEntry(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("a1", 20)
	for record, want := range map[string]Entry{
		"040000 tree " + id + "       -\tdir":      {"dir", Folder, 0, id},
		"100644 blob " + id + "      12\ta b\nc":   {"a b\nc", File, 12, id},
		"100755 blob " + id + "       0\tx":        {"x", File, 0, id},
		"120000 blob " + id + "       3\tlink":     {"link", Symlink, 3, id},
		"160000 commit " + id + "       -\tmodule": {"module", Submodule, 0, id},
	} {
		if got, err := parseEntry(record); err != nil || got != want {
			t.Errorf("%q: %+v, %v", record, got, err)
		}
	}
	for _, record := range []string{"", "x", "100644 blob zz 1\tx", "100644 tag " + id + " -\tx", "100644 blob " + id + " -\tx"} {
		if got, err := parseEntry(record); err == nil {
			t.Errorf("%q: %+v", record, got)
		}
	}
}

func TestOffline(t *testing.T) {
	t.Parallel()
	c := &Client{Program: "/nowhere", Offline: true}
	if _, err := c.Look(context.Background(), "https://h/r"); !errors.Is(err, ErrOffline) {
		t.Errorf("error %v", err)
	}
	if _, err := c.Fetch(context.Background(), t.TempDir(), "ssh://h/r", "v1", ""); !errors.Is(err, ErrOffline) {
		t.Errorf("error %v", err)
	}
}

// TestSSHDoesNotAsk: unless the user says how ssh is called.
func TestSSHDoesNotAsk(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := &Client{Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "GIT_CONFIG_SYSTEM=/dev/null"}}
	has := func(env []string) bool {
		return slices.Contains(c.withSSH(context.Background(), env, "ssh://h/r"), "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	if !has(c.Env) || has([]string{"GIT_SSH_COMMAND=ssh -i key"}) {
		t.Error("ssh may ask, or the user's own command is lost")
	}
	if len(c.withSSH(context.Background(), nil, "https://h/r")) > 0 {
		t.Error("ssh is set up for https")
	}
}
