package specmodule

import (
	"fmt"
	"path"
	"strings"

	"go.starlark.net/starlark"
)

// pathModule has the functions of Python's posixpath, since the paths of a replica do not depend on
// the system of the client.
func pathModule() starlark.Value {
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
		"isabs": pathFunc(func(p string) starlark.Value { return starlark.Bool(strings.HasPrefix(p, "/")) }),
	}, nil)
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
