//go:build unix

package kube

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNamedPipes: a kubeconfig, or a file that it names, which is a named pipe is an error. Waiting
// for its writer would not end, not even by a signal.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	files := []string{pipe, pipe + string(filepath.ListSeparator) + filepath.Join(dir, "none")}
	for i, text := range []string{"certificate-authority: pipe|", "|client-certificate: pipe", "|client-key: pipe", "|tokenFile: pipe"} {
		cluster, user, _ := strings.Cut(text, "|")
		const form = `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1", %s}}], users: [{name: u, user: {username: u, %s}}]}`
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, fmt.Appendf(nil, form, cluster, user), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, file := range files {
		found := make(chan error, 1)
		go func() {
			_, err := Find(ClusterRef{Kubeconfig: file}, []string{"HOME=" + dir})
			found <- err
		}()
		select {
		case err := <-found:
			if err == nil || !strings.Contains(err.Error(), "is a named pipe") {
				t.Errorf("%s: got %v, want that it is a named pipe", file, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: still waits for the pipe", file)
		}
	}
}
