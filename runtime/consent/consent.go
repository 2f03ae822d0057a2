// Package consent stores what the user trusts although a project chose it: files, such as a
// kubeconfig whose credential programs would run here, and folders, whose settings may do harm.
// Consent applies to a path and its content, so a changed file needs it again. The content of a
// folder is what List.With defines.
package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"torchx/runtime/safefile"
)

// FileName is the name of the list in TORCHX_HOME.
const FileName = "trusted.json"

// Limits in bytes: a trusted file is a kubeconfig or a program.
const (
	maxTrusted = 64 << 20
	maxList    = 4 << 20
)

// Reasons why a file is not trusted.
var (
	ErrUnknown = errors.New("is not trusted yet")
	ErrChanged = errors.New("has changed since you trusted it")
	ErrRevoked = errors.New("is no longer trusted")
)

// Entry is one file of the list.
type Entry struct {
	Path      string    `json:"file"`       // of a file or folder, absolute, without symbolic links
	Sum       string    `json:"sha256"`     // of its content, hexadecimal; "": consent was revoked
	TrustedAt time.Time `json:"trusted_at"` // or when it was revoked
}

// List is the list of trusted files of a TORCHX_HOME.
type List struct {
	file string
	sum  func(path string) (string, error)
}

// Of returns the list of a home, without reading it.
func Of(home string) List { return List{filepath.Join(home, FileName), Sum} }

// With returns the list with another sum of the content of a path.
func (l List) With(sum func(path string) (string, error)) List {
	l.sum = sum
	return l
}

// Entries returns all entries, by path.
func (l List) Entries() ([]Entry, error) {
	data, err := safefile.ReadFile(l.file, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return l.parse(data)
}

func (l List) parse(data []byte) (entries []Entry, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("read %s: %w (remove it and trust your files again)", l.file, err)
	}
	return entries, nil
}

// Check returns nil if a file is trusted with its current content, or does not exist. Errors:
// ErrUnknown, ErrChanged, ErrRevoked, or the reason why it cannot be read.
func (l List) Check(path string) error {
	path = resolved(path)
	sum, err := l.sum(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := l.Entries()
	if err != nil {
		return err
	}
	at, ok := find(entries, path)
	switch {
	case !ok:
		return ErrUnknown
	case entries[at].Sum == "":
		return ErrRevoked
	case entries[at].Sum != sum:
		return ErrChanged
	}
	return nil
}

// Recheck is Check for a file that was accepted before: it returns only ErrChanged and ErrRevoked.
func (l List) Recheck(path string) error {
	if err := l.Check(path); errors.Is(err, ErrChanged) || errors.Is(err, ErrRevoked) {
		return err
	}
	return nil
}

// Trust adds files with their current content.
func (l List) Trust(paths ...string) error { return l.set(l.sum, paths) }

// Revoke revokes the consent to files. Errors: ErrUnknown.
func (l List) Revoke(paths ...string) error {
	entries, err := l.Entries()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, ok := find(entries, resolved(path)); !ok {
			return fmt.Errorf("%s %w", path, ErrUnknown)
		}
	}
	return l.set(func(string) (string, error) { return "", nil }, paths)
}

func (l List) set(sum func(path string) (string, error), paths []string) error {
	var changed []Entry
	for _, path := range paths {
		path = resolved(path)
		s, err := sum(path)
		if err != nil {
			return fmt.Errorf("trust a file: %w", err)
		}
		changed = append(changed, Entry{path, s, time.Now().UTC()})
	}
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return fmt.Errorf("create the list of trusted files: %w", err)
	}
	unlock, err := lockedfile.MutexAt(l.file + ".lock").Lock()
	if err != nil {
		return fmt.Errorf("lock the list of trusted files: %w", err)
	}
	defer unlock()
	entries, err := l.Entries()
	if err != nil {
		return err
	}
	for _, e := range changed {
		at, ok := find(entries, e.Path)
		if !ok {
			entries = slices.Insert(entries, at, e)
		}
		entries[at] = e
	}
	return l.replace(entries)
}

// replace replaces the list atomically, since commands read it without the lock. Only its owner may
// read it.
func (l List) replace(entries []Entry) error {
	data, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(l.file), filepath.Base(l.file)+"-")
	if err != nil {
		return fmt.Errorf("write the list of trusted files: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), l.file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write the list of trusted files: %w", err)
	}
	return nil
}

func find(entries []Entry, path string) (at int, ok bool) {
	return slices.BinarySearchFunc(entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
}

// resolved returns an absolute path with symbolic links resolved, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	folder, name := filepath.Split(filepath.Clean(path))
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return filepath.Join(folder, name)
}

// Sum returns the SHA-256 of a file, hexadecimal.
func Sum(path string) (string, error) {
	data, err := safefile.ReadInput(path, maxTrusted)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}
