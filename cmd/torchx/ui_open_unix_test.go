//go:build unix

package main

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"torchx/test/homedir"
)

// opener records its arguments, its environment and the arguments of all processes, then the modes
// and the text of the file that it is to open.
const opener = `#!/bin/sh
{ echo "$@"; env; cat /proc/[0-9]*/cmdline 2>/dev/null; echo; echo MARK; ls -ld "$(dirname "$1")" "$1"; cat "$1"; } > "$RECORD"
`

// openUI runs `ui --open` with args and returns the token of the URL and what opener recorded.
func openUI(t *testing.T, dir string, args ...string) (token, record string) {
	t.Helper()
	bin, fifo := t.TempDir(), filepath.Join(t.TempDir(), "record")
	must(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o700)) //nolint:gosec // a program
	must(t, syscall.Mkfifo(fifo, 0o600))
	t.Cleanup(func() { torchx(t, dir, nil, "", "ui", "--stop") })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	recorded := make(chan string, 1)
	go func() {
		text, _ := exec.CommandContext(ctx, "cat", fifo).Output() // empty if nothing was opened
		recorded <- string(text)
	}()
	cmd := exec.CommandContext(ctx, "torchx", append([]string{"ui", "--open"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir, "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+fifo)
	out, err := cmd.Output()
	must(t, err)
	link, err := url.Parse(strings.TrimSpace(string(out)))
	must(t, err)
	if token = link.Query().Get("token"); token == "" {
		t.Fatalf("got URL %q, want one with a token", out)
	}
	return token, <-recorded
}

// TestUIOpenHidesTheToken: other users of the machine can read the arguments of all programs.
func TestUIOpenHidesTheToken(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the arguments of all programs are read from /proc, which only Linux has")
	}
	dir := homedir.New(t)
	for _, args := range [][]string{{"-d"}, {"-d"}} { // starts a server, then finds it
		token, record := openUI(t, dir, args...)
		public, private, ok := strings.Cut(record, "\nMARK\n")
		if !ok || strings.Contains(public, token) {
			t.Fatalf("an argument or the environment of a program has the token, or nothing was opened: %q", public)
		}
		if !strings.HasPrefix(private, "drwx------") || !strings.Contains(private, "\n-rw-------") {
			t.Errorf("got %q, want a folder of mode 0700 with a file of mode 0600", private)
		}
		openLink(t, private, token)
		if left, _ := filepath.Glob(filepath.Join(dir, "home", "open-*")); len(left) > 0 {
			t.Errorf("%v is left after the page was opened", left)
		}
	}
}

// openLink opens the link of a redirect, as a browser does.
func openLink(t *testing.T, text, token string) {
	t.Helper()
	found := regexp.MustCompile(`href="([^"]+)"`).FindStringSubmatch(text)
	if found == nil || !strings.Contains(found[1], token) {
		t.Fatalf("got %q, want a link with the token", text)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, html.UnescapeString(found[1]), http.NoBody)
	must(t, err)
	answer, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	must(t, err)
	defer answer.Body.Close()
	if got := answer.Header.Get("Location"); got != "/" && !strings.HasPrefix(got, "/#") {
		t.Errorf("got status %d to %q, want a redirect to /", answer.StatusCode, got)
	}
}
