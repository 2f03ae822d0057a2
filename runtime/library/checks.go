package library

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// builtinName is the name of the built-in library.
const builtinName = "torchx"

// maxPath bounds paths in a library in bytes: Linux's PATH_MAX.
const maxPath = 4096

// maxName bounds names of libraries, which are also names of folders.
const maxName = 64

// CheckName returns an error if a library cannot have the name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a library is empty")
	case name == builtinName:
		return fmt.Errorf("%s is the name of the built-in library; choose another", builtinName)
	case len(name) > maxName:
		return fmt.Errorf("the name of a library has at most %d characters", maxName)
	}
	for i := range len(name) {
		c := name[i]
		if !isLetterOrDigit(c) && (i == 0 || c != '-' && c != '.') {
			return fmt.Errorf("library name %q: use letters, digits and _, and after the first character also - and dots", name)
		}
	}
	return nil
}

func isLetterOrDigit(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// checkText rejects text that a program could take for an option, and text that could control
// a terminal or end a line.
func checkText(what, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("the %s is empty", what)
	case text[0] == '-':
		return fmt.Errorf("%s %q starts with -, like an option, which is not allowed", what, text)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s %q is not UTF-8 text", what, text)
	case strings.ContainsFunc(text, isControl):
		return fmt.Errorf("%s %q has control characters", what, text)
	}
	return nil
}

func isControl(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) ||
		r == '\u2028' || r == '\u2029'
}

// CheckURL returns an error if the URL of a git repository is invalid or does not use https,
// ssh or file.
func CheckURL(text string) error {
	if err := checkText("URL", text); err != nil {
		return err
	}
	scheme, _, ok := strings.Cut(text, "://")
	if !ok {
		return notURL(text)
	}
	switch scheme {
	case "https", "ssh", "file":
	default:
		return fmt.Errorf("URL %q: libraries are fetched by https, ssh or file, not by %q", text, scheme)
	}
	if strings.ContainsAny(text, " \t\\?#") {
		return fmt.Errorf("URL %q contains a space, \\, ? or # (write a space as %%20)", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		if detail, ok := errors.AsType[*url.Error](err); ok {
			err = detail.Err
		}
		return fmt.Errorf("URL %q: %w", text, err)
	}
	return checkParts(text, u)
}

// IsRemote reports whether source is the URL of a repository, even an invalid one, and not a
// folder.
func IsRemote(source string) bool {
	if strings.Contains(source, "://") {
		return true
	}
	host, _, ok := strings.Cut(source, ":")
	return ok && len(host) > 1 && !strings.ContainsAny(host, `/\`) // C:\x is a folder
}

// notURL explains how to write git's short forms for ssh and helpers.
func notURL(text string) error {
	host, path, ok := strings.Cut(text, ":")
	if ok && strings.HasPrefix(path, ":") { // git would run the helper git-remote-HOST
		return fmt.Errorf("URL %q: libraries are fetched by https, ssh or file, not by %q", text, host)
	}
	if ok && host != "" && !strings.Contains(host, "/") {
		return fmt.Errorf("URL %q: write it as ssh://%s/%s", text, host,
			strings.TrimPrefix(path, "/"))
	}
	return fmt.Errorf("URL %q: write https://HOST/PATH, ssh://USER@HOST/PATH or file:///PATH", text)
}

func checkParts(text string, u *url.URL) error {
	if _, secret := u.User.Password(); secret {
		// The password would be committed with the project.
		return fmt.Errorf("URL of %s contains a password: remove it and use a credential helper of git", u.Host)
	}
	host := u.Hostname()
	switch {
	case u.Scheme == "file" && host != "" && host != "localhost":
		return fmt.Errorf("URL %q: a file URL has no host: write file:///PATH", text)
	case u.Scheme != "file" && host == "":
		return fmt.Errorf("URL %q has no host", text)
	case strings.Trim(u.Path, "/") == "":
		return fmt.Errorf("URL %q has no repository", text)
	case strings.HasPrefix(host, "-") || strings.HasPrefix(u.User.Username(), "-"):
		return fmt.Errorf("URL %q: a host or user that starts with - could be taken for an option", text)
	case strings.ContainsFunc(u.Path, isControl) ||
		strings.ContainsFunc(host+u.User.Username(), isControl):
		return fmt.Errorf("URL %q has control characters", text)
	}
	return nil
}

// CheckRevision returns an error if the name of a branch, tag or commit is invalid by the rules
// of git check-ref-format.
func CheckRevision(text string) error {
	if err := checkText("revision", text); err != nil {
		return err
	}
	bad := len(text) > 255 || strings.ContainsAny(text, " ~^:?*[\\") ||
		strings.Contains(text, "..") ||
		strings.Contains(text, "@{") || strings.Contains(text, "//") ||
		strings.HasPrefix(text, "/") ||
		strings.HasSuffix(text, "/") || strings.HasSuffix(text, ".") ||
		strings.HasSuffix(text, ".lock")
	if bad {
		return fmt.Errorf("revision %q is not a valid branch, tag or commit", text)
	}
	return nil
}

// CheckFolder returns an error if the path of a folder is invalid. It must start with ./ or
// ../, relative to the project, or be absolute.
func CheckFolder(text string) error {
	if err := checkText("folder", text); err != nil {
		return err
	}
	slashed := filepath.ToSlash(text)
	switch {
	case slashed == "." || slashed == ".." || strings.HasPrefix(slashed, "./") ||
		strings.HasPrefix(slashed, "../"):
	case strings.HasPrefix(slashed, "/"), filepath.IsAbs(text):
	default:
		return fmt.Errorf("folder %q: write ./%s if it is relative to the project", text, text)
	}
	return nil
}

// checkPath returns an error if the path of a file or folder in a library is invalid.
func checkPath(path string) error {
	switch {
	case len(path) > maxPath:
		return fmt.Errorf("a path of %d bytes starts with %q: at most %d bytes are allowed",
			len(path), short(path), maxPath)
	case isPlain(path):
		return nil
	case !utf8.ValidString(path) || strings.ContainsFunc(path, isControl):
		return fmt.Errorf("the name %q has control characters or is not UTF-8 text", path)
	case !fs.ValidPath(path) || path == "." || strings.Contains(path, "\\"):
		return fmt.Errorf("the path %q leads out of the library or has empty parts", path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if isGitFolder(part) {
			return fmt.Errorf("the path %q contains git's own folder", path)
		}
		if part[0] == '-' {
			return fmt.Errorf("the path %q contains a name that starts with -, like an option", path)
		}
	}
	return nil
}

// isPlain is a fast check, true for most valid paths and for no invalid one: letters, digits
// and _, and after one of them also dots and -. Locks have thousands of paths.
func isPlain(path string) bool {
	last := byte('/')
	for i := range len(path) {
		c := path[i]
		if !isLetterOrDigit(c) && (c != '-' && c != '.' && c != '/' || last == '/') {
			return false
		}
		last = c
	}
	return last != '/'
}

// checkSubfolder is checkPath for the folder of a repository that holds a library.
func checkSubfolder(path string) error {
	if err := checkText("folder in the repository", path); err != nil {
		return err
	}
	return checkPath(path)
}

// checkSize rejects a file that is too large.
func checkSize(name string, size int64) error {
	switch {
	case strings.HasSuffix(name, ".star") && size > MaxStarlarkFile:
		return fmt.Errorf("%s is %s large, and a Starlark file may have at most %s: split it", name,
			sizeText(size), sizeText(MaxStarlarkFile))
	case size > MaxFile:
		return fmt.Errorf("%s is %s large, and a file of a library may have at most %s: keep data elsewhere, or use a folder of the repository with path=", name, sizeText(size), sizeText(MaxFile))
	}
	return nil
}

func sizeText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
