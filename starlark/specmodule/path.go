package specmodule

import (
	"fmt"
	"path"
	"strings"

	"go.starlark.net/starlark"
)

// pathModule has the functions of Python's posixpath: a replica's paths do not depend on the
// client.
func pathModule() starlark.Value {
	return module("path", map[string]function{
		"join":     pathJoin,
		"basename": pathString(func(p string) string { _, base := splitPath(p); return base }),
		"dirname":  pathString(func(p string) string { dir, _ := splitPath(p); return dir }),
		"stem":     pathString(pathStem),
		"normpath": pathString(path.Clean),
		"splitext": pathSplitext,
		"isabs":    pathIsabs,
	}, nil)
}

// pathString makes a function of a function from path to string.
func pathString(f func(string) string) function {
	return func(c call) (starlark.Value, error) {
		var p string
		err := c.unpack("path", &p)
		return starlark.String(f(p)), err
	}
}

// pathJoin is path.join(path, *paths): an absolute part drops those before it.
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

// splitPath splits after the last slash. The folder keeps slashes at its end only if it is all
// slashes.
func splitPath(p string) (dir, base string) {
	i := strings.LastIndexByte(p, '/') + 1
	dir, base = p[:i], p[i:]
	if trimmed := strings.TrimRight(dir, "/"); trimmed != "" {
		dir = trimmed
	}
	return dir, base
}

// splitExt splits before the last dot of the file's name, leading dots aside.
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

func pathStem(p string) string {
	_, base := splitPath(strings.TrimRight(p, "/"))
	root, _ := splitExt(base)
	return root
}

// pathSplitext is path.splitext(path).
func pathSplitext(c call) (starlark.Value, error) {
	var p string
	if err := c.unpack("path", &p); err != nil {
		return nil, err
	}
	root, ext := splitExt(p)
	return starlark.Tuple{starlark.String(root), starlark.String(ext)}, nil
}

// pathIsabs is path.isabs(path).
func pathIsabs(c call) (starlark.Value, error) {
	var p string
	err := c.unpack("path", &p)
	return starlark.Bool(strings.HasPrefix(p, "/")), err
}
