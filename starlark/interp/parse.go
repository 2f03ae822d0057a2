package interp

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"go.starlark.net/syntax"
)

// Parse reads source as loading does, with comments, and runs nothing: UTF-8 of at most MaxSource
// bytes in the dialect of component files, not nested too deep. Names are not resolved. Positions
// do not count a byte order mark. The error is an *Error.
func Parse(name string, source []byte) (*syntax.File, error) {
	i := &Interp{sources: map[string][]byte{name: source}}
	if err := checkSource(source); err != nil {
		return nil, &Error{File: name, Msg: err.Error(), cause: err}
	}
	text := bytes.TrimPrefix(source, byteOrderMark)
	file, err := dialect().Parse(name, text, syntax.RetainComments)
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	// Rewriting finds trees that are too deep to walk, but changes them.
	guarded, err := dialect().Parse(name, text, 0)
	if err == nil {
		err = rewrite(guarded)
	}
	if err != nil {
		return nil, i.sourceProblem(err)
	}
	return file, nil
}

// Docstring returns the docstring of a function or file with these statements, or nil.
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

// Param is a parameter in the head of a function.
type Param struct {
	*syntax.Ident
	Default syntax.Expr // nil if it has none
	Star    string      // "*" or "**", "" for an ordinary one
}

// Params lists the parameters of a function; a bare * is none.
func Params(def *syntax.DefStmt) []Param {
	var list []Param
	for _, e := range def.Params {
		switch e := e.(type) {
		case *syntax.Ident:
			list = append(list, Param{Ident: e})
		case *syntax.BinaryExpr:
			list = append(list, Param{Ident: e.X.(*syntax.Ident), Default: e.Y})
		case *syntax.UnaryExpr:
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

// ReadFile reads a Starlark file from disk as loading does: UTF-8 of at most MaxSource bytes from a
// regular file, never blocking. The error is one line that calls the file name.
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

// pythonWords maps keywords of Python that Starlark only reserves to their replacement.
var pythonWords = map[string]string{
	"import": "there are no imports here: specs and torchx are there, load() brings in other files",
	"from":   "there are no imports here: specs and torchx are there, load() brings in other files",
	"class":  "Starlark has no classes: write functions, or struct(…)",
	"try":    "Starlark cannot catch errors: test before",
	"except": "Starlark cannot catch errors: test before",
	"raise":  "write fail(…)",
	"assert": "write if not …: fail(…)",
	"is":     "write == None",
	"with":   "a component opens nothing",
	"while":  "Starlark has no while: write for … in range(…) and break",
	"yield":  "Starlark has no generators: build a list",
	"del":    "write x.pop(key)",
	"global": "a file's values never change once it is loaded",
}

// pythonHint returns the replacement for Python syntax in line, where the parser reported msg, or
// "".
func pythonHint(pos syntax.Position, msg, line string) string {
	got, _, _ := strings.Cut(strings.TrimPrefix(msg, "got "), ",")
	// The parser's column is that of the next token.
	before := strings.TrimRight(line[:min(max(int(pos.Col)-1, 0), len(line))], " :")
	head := strings.HasPrefix(strings.TrimSpace(line), "def ")
	switch {
	case pythonWords[got] != "":
		return " (" + pythonWords[got] + ")"
	case head && got == "':'" && strings.Contains(before, "(") && !strings.HasSuffix(before, "("),
		head && got == "'-'", head && got == "'->'":
		return " (Starlark has no annotations: types stand in the docstring, NAME (TYPE): …)"
	case got == "string literal" && (strings.Contains(line, `f"`) || strings.Contains(line, "f'")):
		return " (Starlark has no f-strings: write \"…{}…\".format(…))"
	}
	return ""
}
