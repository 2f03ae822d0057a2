package lsp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"torchx/runtime/safefile"
	"torchx/starlark/analysis"
	"torchx/starlark/interp"
)

// freshFor is how long libraries and roots are cached; maxFiles bounds the cache of analyzed files.
const (
	freshFor = 2 * time.Second
	maxFiles = 1000
)

// files analyzes files on disk, of libraries, and built-in ones, on demand.
type files struct {
	config Config

	mu        sync.Mutex
	interp    *interp.Interp // nil if expired
	createdAt time.Time
	cache     map[string]cached // by the source's key
	extracted map[string]string // labels by the path of the extracted file
}

// cached is an analyzed file with its size and modification time on disk.
type cached struct {
	modified time.Time
	size     int64
	file     *analysis.File
}

func newFiles(c Config) *files {
	return &files{config: c, cache: map[string]cached{}, extracted: map[string]string{}}
}

// forget clears the cache of libraries and roots.
func (f *files) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interp = nil
}

// locator returns an interpreter that is used only to find files.
func (f *files) locator() *interp.Interp {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.interp == nil || time.Since(f.createdAt) > freshFor {
		f.createdAt = time.Now()
		f.interp = interp.New(interp.Config{Dir: f.config.Dir, Builtins: f.config.Builtins, Library: f.config.Library})
	}
	return f.interp
}

// sourceOf returns the file of a URI, nil if it is not on disk. readOnly is set for files of a
// library and built-in files.
func (f *files) sourceOf(uri, root string) (source *interp.Source, readOnly bool) {
	path, ok := pathOf(uri)
	if !ok {
		return nil, false
	}
	if label := f.labelOf(path); label != "" {
		if root == "" {
			root = f.config.Dir
		}
		source, err := f.locator().SourceIn(root, label)
		return source, err == nil
	}
	source, err := f.locator().SourceOf(path)
	if err != nil {
		return nil, false
	}
	return source, false
}

// read analyzes a file on disk.
func (f *files) read(source *interp.Source) (*analysis.File, error) {
	info, err := source.Stat()
	if err == nil {
		f.mu.Lock()
		known, ok := f.cache[source.Key()]
		f.mu.Unlock()
		if ok && known.size == info.Size() && known.modified.Equal(info.ModTime()) {
			return known.file, nil
		}
	}
	data, err := source.Read()
	if err != nil {
		return nil, fmt.Errorf("cannot load %s: %w", source.Label(), err)
	}
	file := analysis.New(source.Display(), source, string(data), nil)
	if info != nil {
		f.mu.Lock()
		if len(f.cache) >= maxFiles {
			clear(f.cache)
		}
		f.cache[source.Key()] = cached{info.ModTime(), info.Size(), file}
		f.mu.Unlock()
	}
	return file, nil
}

// path returns the path of a file, and extracts the file if necessary.
func (f *files) path(file *analysis.File) (string, error) {
	if p := f.diskPath(file.Source); p != "" {
		return p, nil
	}
	if f.config.Extracted == "" {
		return "", errors.New("a file that is not on disk cannot be opened")
	}
	return f.extract(file.Source.Label(), file.Text)
}

// diskPath returns the path where a file can be edited, or "".
func (f *files) diskPath(source *interp.Source) string {
	name := interp.LibraryOf(source.Label())
	if name == "" || f.config.Folder == nil {
		return source.Path()
	}
	folder, ok := f.config.Folder(source.Root(), name)
	if !ok {
		return ""
	}
	_, file, _ := strings.Cut(source.Label(), "//")
	return filepath.Join(folder, filepath.FromSlash(file))
}

// extract writes a file that is not on disk to a folder named after its content, and returns the
// path.
func (f *files) extract(label, text string) (string, error) {
	hash := sha256.Sum256([]byte(text))
	path := filepath.Join(f.config.Extracted, fmt.Sprintf("%x", hash[:6]),
		filepath.FromSlash(strings.Replace(strings.TrimPrefix(label, "@"), "//", "/", 1)))
	f.mu.Lock()
	f.extracted[path] = label
	f.mu.Unlock()
	if data, err := safefile.ReadFile(path, interp.MaxSource); err == nil && string(data) == text {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return path, writeWhole(path, text)
}

// labelOf returns the label of the file extracted to a path, or "".
func (f *files) labelOf(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if label := f.extracted[path]; label != "" || f.config.Extracted == "" {
		return label
	}
	// An earlier server may have extracted it to HASH/LIBRARY/FILE.
	rest, ok := strings.CutPrefix(path, f.config.Extracted+string(filepath.Separator))
	parts := strings.SplitN(filepath.ToSlash(rest), "/", 3)
	if !ok || len(parts) < 3 {
		return ""
	}
	return "@" + parts[1] + "//" + parts[2]
}

// pathOf returns the absolute path of a file: URI; false for other URIs.
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

// writeWhole writes a read-only file under a temporary name first, so that readers never see it
// incomplete.
func writeWhole(path, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Chmod(0o400), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
