package interp

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/starlark/explain"
)

// Parse parses source like a load, with comments, without running it: UTF-8 of at most MaxSource
// bytes in the dialect of component files, not nested too deep. Names are not resolved. Positions
// do not count a byte order mark. The error is an *Error.
func Parse(name string, source []byte) (*syntax.File, error) {
	i := &Interp{sources: map[string][]byte{name: source}}
	if err := checkSource(source); err != nil {
		return nil, &Error{File: name, Msg: err.Error(), cause: err}
	}
	file, err := parse(dialect(), name, source, syntax.RetainComments)
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	// rewrite finds trees that are too deep to walk, but modifies them.
	guarded, err := parse(dialect(), name, source, 0)
	if err == nil {
		err = rewrite(guarded)
	}
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	return file, nil
}

// EveryDialect returns the options that accept every Starlark, for tools: evaluation reports what
// the dialect of component files does not allow.
func EveryDialect() *syntax.FileOptions {
	return &syntax.FileOptions{
		Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true,
	}
}

// ParseLenient parses source in every dialect, for lists of components. The error is a syntax.Error
// with the position of the mistake.
func ParseLenient(name string, source []byte) (*syntax.File, error) {
	return parse(EveryDialect(), name, source, 0)
}

// parse parses source without its byte order mark. A syntax.Error has the position of the mistake.
func parse(
	options *syntax.FileOptions, name string, source []byte, mode syntax.Mode,
) (*syntax.File, error) {
	text := bytes.TrimPrefix(source, byteOrderMark)
	file, err := options.Parse(name, text, mode)
	if problem, ok := errors.AsType[syntax.Error](err); ok {
		return nil, explained(string(text), problem)
	}
	return file, err
}

// explained moves an error of the parser to the mistake and adds how to fix it.
func explained(text string, e syntax.Error) syntax.Error {
	if strings.Count(text, "\r") != strings.Count(text, "\r\n") {
		return e // only the parser treats lone carriage returns as line ends
	}
	lines := NewLines(text)
	at, msg := explain.Syntax(text, lines.Offset(int(e.Pos.Line), int(e.Pos.Col)), e.Msg)
	line, col := lines.LineCol(at)
	e.Msg, e.Pos.Line, e.Pos.Col = msg, int32(line)+1, int32(utf8.RuneCountInString(lines.Line(line)[:min(col, len(lines.Line(line)))]))+1
	return e
}

// Docstring returns the docstring of a function or file with the statements body, or nil.
func Docstring(body []syntax.Stmt) *syntax.Literal {
	if len(body) == 0 {
		return nil
	}
	if expr, ok := body[0].(*syntax.ExprStmt); ok {
		if literal, ok := expr.X.(*syntax.Literal); ok && literal.Token == syntax.STRING {
			return literal
		}
	}
	return nil
}

// Targets lists the names that the left side of an assignment or loop binds.
func Targets(e syntax.Expr) []*syntax.Ident {
	var list []syntax.Expr
	switch e := e.(type) {
	case *syntax.Ident:
		return []*syntax.Ident{e}
	case *syntax.ParenExpr:
		return Targets(e.X)
	case *syntax.TupleExpr:
		list = e.List
	case *syntax.ListExpr:
		list = e.List
	}
	var names []*syntax.Ident
	for _, x := range list {
		names = append(names, Targets(x)...)
	}
	return names
}

// Param is a parameter in the head of a function.
type Param struct {
	*syntax.Ident
	Default syntax.Expr // may be nil
	Star    string      // "*", "**" or ""
	Keyword bool        // only given by name
}

// Params lists the parameters of a function, without a bare *.
func Params(def *syntax.DefStmt) []Param {
	var list []Param
	keyword := false
	for _, e := range def.Params {
		switch e := e.(type) {
		case *syntax.Ident:
			list = append(list, Param{Ident: e, Keyword: keyword})
		case *syntax.BinaryExpr:
			list = append(list, Param{Ident: e.X.(*syntax.Ident), Default: e.Y, Keyword: keyword})
		case *syntax.UnaryExpr:
			keyword = true
			if name, ok := e.X.(*syntax.Ident); ok {
				list = append(list, Param{Ident: name, Star: e.Op.String()})
			}
		}
	}
	return list
}

func checkSource(source []byte) error {
	if len(source) > MaxSource {
		return tooLarge(int64(len(source)))
	}
	return checkText(source)
}

// ReadFile reads a Starlark file from disk like a load: UTF-8 of at most MaxSource bytes from a
// regular file. It never blocks. The error is one line that refers to the file as name.
func ReadFile(path, name string) ([]byte, error) {
	data, err := readDisk(path)
	if err == nil {
		err = checkText(data)
	}
	if err != nil {
		err = readError(&Source{&tree{dir: filepath.Dir(path)}, filepath.Base(path)}, err)
		return nil, &Error{File: name, Msg: err.Error(), cause: err}
	}
	return data, nil
}

func readDisk(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f)
}

// ResolveNames resolves the names of a file of size bytes, with predeclared names in addition to
// Starlark's own. The error is a resolve.ErrorList. Since the resolver compares each undefined name
// with all others, ResolveNames reports only some undefined names of a large file.
func ResolveNames(file *syntax.File, size int, predeclared func(name string) bool) error {
	unknown, limit := 0, max(20, 10_000_000/max(1, size))
	return resolve.File(file, func(name string) bool {
		if predeclared(name) {
			return true
		}
		if !starlark.Universe.Has(name) {
			unknown++
		}
		return unknown > limit
	}, starlark.Universe.Has)
}
