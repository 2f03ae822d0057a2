package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// pathOf returns the absolute path that a file: URI names; false for others.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // /C:/dir
	}
	return filepath.Clean(filepath.FromSlash(path)), true
}

// uriOf returns the file: URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
