package specmodule

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"go.starlark.net/starlark"
)

// pathModule has the functions of Python's posixpath, since the paths of a replica do not depend on
// the system of the client. cwd, abspath and here know the folder in which the component runs.
func pathModule(o Options) starlark.Value {
	return module("path", map[string]function{
		"join":     pathJoin,
		"basename": pathFunc(func(p string) starlark.Value { _, base := splitPath(p); return starlark.String(base) }),
		"dirname":  pathFunc(func(p string) starlark.Value { dir, _ := splitPath(p); return starlark.String(dir) }),
		"stem":     pathFunc(pathStem),
		"normpath": pathFunc(func(p string) starlark.Value { return starlark.String(path.Clean(p)) }),
		"splitext": pathFunc(func(p string) starlark.Value {
			root, ext := splitExt(p)
			return starlark.Tuple{starlark.String(root), starlark.String(ext)}
		}),
		"isabs":   pathFunc(func(p string) starlark.Value { return starlark.Bool(strings.HasPrefix(p, "/")) }),
		"abspath": pathFunc(func(p string) starlark.Value { return starlark.String(o.abs(p)) }),
		"cwd":     o.cwd,
		"here":    o.here,
	}, nil)
}

// abs returns p below the working folder, unless it is absolute, in its shortest form.
func (o Options) abs(p string) string {
	dir := "/workspace"
	if o.Cwd != nil {
		dir = filepath.ToSlash(o.Cwd())
	}
	if path.IsAbs(p) || filepath.IsAbs(p) {
		dir = ""
	}
	return path.Join(dir, p)
}

func (o Options) cwd(c call) (starlark.Value, error) {
	return starlark.String(o.abs(".")), c.unpack()
}

// here returns the folder of the calling file, whose position is relative to the working folder.
func (o Options) here(c call) (starlark.Value, error) {
	file := filepath.ToSlash(c.thread.CallFrame(1).Pos.Filename())
	if strings.HasPrefix(file, "@") {
		return nil, fmt.Errorf("%s is in a library, which has no folder", file)
	}
	return starlark.String(o.abs(path.Dir(file))), c.unpack()
}

// pathFunc returns f, a function of one path, as a Starlark function.
func pathFunc(f func(string) starlark.Value) function {
	return func(c call) (starlark.Value, error) {
		var p string
		err := c.unpack("path", &p)
		return f(p), err
	}
}

// pathJoin is path.join(path, *paths): an absolute part drops all parts before it.
func pathJoin(c call) (starlark.Value, error) {
	if len(c.kwargs) > 0 || len(c.args) == 0 {
		return nil, fmt.Errorf("want one or more positional arguments")
	}
	parts, err := goStrings("paths", c.args)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	last := byte('/')
	for _, p := range parts {
		if strings.HasPrefix(p, "/") {
			out.Reset()
		} else if out.Len() > 0 && last != '/' {
			out.WriteByte('/')
			last = '/'
		}
		if out.Len()+len(p) > maxText {
			return nil, errTooLong
		}
		out.WriteString(p)
		if p != "" {
			last = p[len(p)-1]
		}
	}
	return starlark.String(out.String()), nil
}

// splitPath splits after the last slash. Trailing slashes of the folder are removed unless it
// consists of slashes only.
func splitPath(p string) (dir, base string) {
	i := strings.LastIndexByte(p, '/') + 1
	dir, base = p[:i], p[i:]
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		dir = trimmed
	}
	return dir, base
}

// splitExt splits before the last dot of the file's name, ignoring leading dots.
func splitExt(p string) (root, ext string) {
	_, base := splitPath(p)
	name := strings.TrimLeft(base, ".")
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return p, ""
	}
	cut := len(p) - len(name) + i
	return p[:cut], p[cut:]
}

func pathStem(p string) starlark.Value {
	_, base := splitPath(strings.TrimRight(p, "/"))
	root, _ := splitExt(base)
	return starlark.String(root)
}

func shlexQuote(c call) (starlark.Value, error) {
	var s string
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	return quoteAll([]string{s})
}

func shlexJoin(c call) (starlark.Value, error) {
	var v starlark.Value
	if err := c.unpack("split_command", &v); err != nil {
		return nil, err
	}
	words, err := goStrings("split_command", v)
	if err != nil {
		return nil, err
	}
	return quoteAll(words)
}

func quoteAll(words []string) (starlark.Value, error) {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		const growth = 5 // a single quote becomes five characters
		if b.Len()+growth*len(w) > maxText {
			return nil, errTooLong
		}
		b.WriteString(QuoteWord(w))
	}
	return starlark.String(b.String()), nil
}

// QuoteWord quotes s for a POSIX shell if it has special characters, by the rule of Python's
// shlex.quote.
func QuoteWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plainRune(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r < 0x80 &&
		strings.ContainsRune("_@%+=:,./-", r)
}

func shlexSplit(c call) (starlark.Value, error) {
	var s string
	if err := c.unpack("s", &s); err != nil {
		return nil, err
	}
	if len(s) > maxParsed {
		return nil, errTextTooLong
	}
	words, err := SplitWords(s)
	if err != nil {
		return nil, err
	}
	values := make([]starlark.Value, len(words))
	for i, w := range words {
		values[i] = starlark.String(w)
	}
	return starlark.NewList(values), nil
}

// SplitWords splits s like Python's shlex.split: POSIX quoting without comments or expansions.
// Within double quotes, a backslash escapes only itself and the quote.
func SplitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false // also true for an empty quoted word
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
			end()
			continue
		case '\\':
			if i++; i == len(s) {
				return nil, fmt.Errorf("no character after the last backslash")
			}
			word.WriteByte(s[i])
		case '\'', '"':
			text, n := quotedText(s[i+1:], c)
			if n == 0 {
				return nil, fmt.Errorf("no closing quotation mark (%c)", c)
			}
			word.WriteString(text)
			i += n
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	end()
	return words, nil
}

// quotedText returns the text up to the closing quote and its length with the quote; 0 if the quote
// is missing.
func quotedText(s string, quote byte) (text string, length int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == quote {
			return b.String(), i + 1
		}
		if quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\') {
			i++
		}
		b.WriteByte(s[i])
	}
	return "", 0
}

func goStrings(at string, v starlark.Value) ([]string, error) {
	list, err := checkStrings(at, v)
	if err != nil {
		return nil, err
	}
	words := make([]string, 0, list.(*starlark.List).Len())
	for item := range list.(*starlark.List).Elements() {
		words = append(words, string(item.(starlark.String)))
	}
	return words, nil
}
