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
	for messages, want := range map[string]string{
		"fatal: repository 'x' not found\n":                     "repository 'x' not found",
		"warning: redirecting\nerror: pathspec\nfatal: later\n": "pathspec",
		"host: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have\n": "host: Permission denied (publickey). (is your key known there",
		"fatal: could not read Username for 'https://h': terminal prompts disabled":                                            "it needs a login: set up a credential helper",
		"nothing known\n": "nothing known",
		"":                "git failed: exit status 1",
	} {
		err := failure(exit, messages)
		if !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q: got %q, want %q", messages, err, want)
		}
	}
}

// TestEnvironment: variables set by a hook do not redirect git, and git never prompts.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := &Client{Env: []string{"GIT_DIR=/x", "GIT_INDEX_FILE=y", "PATH=/bin", "GIT_ALLOW_PROTOCOL=ext"}}
	env := c.environment()
	if slices.Contains(env, "GIT_DIR=/x") || slices.Contains(env, "GIT_INDEX_FILE=y") || !slices.Contains(env, "PATH=/bin") {
		t.Errorf("got environment %q, want it without variables of a hook", env)
	}
	last := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		last[name] = value
	}
	if last["GIT_ALLOW_PROTOCOL"] != "https:ssh:file" || last["GIT_TERMINAL_PROMPT"] != "0" {
		t.Errorf("got environment %q, want limited protocols and no prompts", env)
	}
}

func TestUserInputAfterDashes(t *testing.T) {
	t.Parallel()
	c := &Client{Program: "echo"}
	_, err := c.ListRefs(context.Background(), "--upload-pack=touch x")
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.run(context.Background(), "", "ls-remote", "--", "--upload-pack=x")
	if err != nil || !strings.HasSuffix(string(out), " ls-remote -- --upload-pack=x\n") {
		t.Errorf("got arguments %q, %v, want user input after --", out, err)
	}
}

func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("Ctrl-C")
	cancel(stop)
	if _, err := (&Client{}).run(ctx, "", "version"); !errors.Is(err, stop) {
		t.Errorf("got error %v, want %v", err, stop)
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
			t.Errorf("%q: got %+v, %v, want %+v", record, got, err, want)
		}
	}
	for _, record := range []string{"", "x", "100644 blob zz 1\tx", "100644 tag " + id + " -\tx", "100644 blob " + id + " -\tx"} {
		if got, err := parseEntry(record); err == nil {
			t.Errorf("%q: got %+v, want an error", record, got)
		}
	}
}

func TestOffline(t *testing.T) {
	t.Parallel()
	c := &Client{Program: "/nowhere", Offline: true}
	if _, err := c.ListRefs(context.Background(), "https://h/r"); !errors.Is(err, ErrOffline) {
		t.Errorf("got error %v, want %v", err, ErrOffline)
	}
	if _, err := c.Fetch(context.Background(), t.TempDir(), "ssh://h/r", "v1", ""); !errors.Is(err, ErrOffline) {
		t.Errorf("got error %v, want %v", err, ErrOffline)
	}
}

// TestSSHDoesNotPrompt, unless the user configured the ssh command.
func TestSSHDoesNotPrompt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := &Client{Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "GIT_CONFIG_SYSTEM=/dev/null"}}
	has := func(env []string) bool {
		return slices.Contains(c.withSSH(context.Background(), env, "ssh://h/r"), "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	if !has(c.Env) || has([]string{"GIT_SSH_COMMAND=ssh -i key"}) {
		t.Error("got an ssh that may prompt, or without the user's command")
	}
	if len(c.withSSH(context.Background(), nil, "https://h/r")) > 0 {
		t.Error("https: got an ssh command, want none")
	}
}
