package page

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/safefile"
)

// A redirect is a file that sends the browser to the page. Arguments of programs are public on a
// machine, so the browser gets the path of the file and not the URL with the token.
const (
	redirectPrefix = "open-" // of the folder, in the home
	redirectFile   = "torchx.html"
	redirectTime   = time.Minute // after which a redirect is removed unused
)

// writeRedirect writes a redirect to a link, which has a query, and returns its path.
func writeRedirect(home, link string) (string, error) {
	folder, err := os.MkdirTemp(home, redirectPrefix) // with mode 0700
	if err != nil {
		return "", err
	}
	link = html.EscapeString(link + "&open=" + filepath.Base(folder))
	text := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">`+
		`<meta http-equiv="refresh" content="0; url=%s"><title>torchx</title><a href="%s">torchx</a>`+"\n", link, link)
	path := filepath.Join(folder, redirectFile)
	if err := safefile.WriteFile(path, []byte(text)); err != nil {
		removeRedirect(folder)
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return path, nil
}

func removeRedirect(folder string) {
	_ = os.Remove(filepath.Join(folder, redirectFile)) // another process may have removed it
	_ = os.Remove(folder)
}

// expireRedirects removes the redirects of a home that are older than age.
func expireRedirects(home string, age time.Duration) {
	entries, _ := os.ReadDir(home) // a home that cannot be read has none that can be removed
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), redirectPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
			removeRedirect(filepath.Join(home, e.Name()))
		}
	}
}

// keepExpiring removes unused redirects until ctx ends.
func keepExpiring(ctx context.Context, home string) {
	for {
		expireRedirects(home, redirectTime)
		select {
		case <-time.After(redirectTime):
		case <-ctx.Done():
			return
		}
	}
}

// consumeRedirects removes the redirect that a request followed.
func consumeRedirects(home string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("open")
		if strings.HasPrefix(name, redirectPrefix) && !strings.ContainsAny(name, `/\`) {
			removeRedirect(filepath.Join(home, name))
		}
		next.ServeHTTP(w, r)
	})
}
