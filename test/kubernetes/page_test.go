//go:build unix

package kubernetes

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestPageFollowsLog: a page learns that the log of a pod grows, of which no file is here.
func TestPageFollowsLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.run("gang=job", "--cpu", "1", "--script", "while :; do echo line; sleep 0.2; done")
	handle := strings.TrimSpace(r.stdout)
	if r.code != 0 {
		t.Fatalf("run: got %+v", r)
	}
	server := h.command("ui", "--port", "0")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	token := at.Query().Get("token")
	at.Path, at.RawQuery = "/api/v1/stream", url.Values{"watch": {"log:" + handle}}.Encode()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events, lines := 0, bufio.NewScanner(answer.Body)
	for events < 2 && lines.Scan() {
		if lines.Text() == "event: log" {
			events++
		}
	}
	if events < 2 {
		t.Errorf("got %d events of the log, %v, want one after another", events, lines.Err())
	}
}
