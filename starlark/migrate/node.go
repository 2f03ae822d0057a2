package migrate

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// node is a node of Python's syntax tree. Kind is its class in Python's ast module, and the
// other fields are those of the ported classes; python/dump.py says what it changes.
type node struct {
	Kind           string
	Line, Col, End int      // from 1
	File           string   // "" for the program's file
	Helper         bool     // of another file: not a component
	Binds          []string // the names that the node itself binds, without imports

	Name, ID, Attr, Arg, Op, Star string
	Ops                           []string
	Type, Text                    string // of a constant
	Bad                           bool   // its text has half of a surrogate pair
	Power                         string // the digits of a power of constants
	Keyword, Plain                bool   // a keyword-only parameter; a lambda without stars and defaults
	Single                        bool   // an f-string that was text % x, where x must not be a tuple
	Conversion, IsAsync           int

	Value, Func, Target, Iter, Test, Msg, Exc, Elt, Key, Left, Right, Operand, Slice, Lower, Upper, Step *node
	FormatSpec, Returns, Annotation, Default                                                             *node

	Targets, Args, Keywords, Elts, Keys, Values, Generators, Ifs, Comparators []*node
	Bases, DecoratorList, Body, Orelse, Handlers, FinalBody                   []*node
}

// kids lists the nodes directly below n.
func (n *node) kids() []*node {
	one := []*node{
		n.Value, n.Func, n.Target, n.Iter, n.Test, n.Msg, n.Exc, n.Elt, n.Key, n.Left, n.Right, n.Operand, n.Slice, n.Lower, n.Upper, n.Step,
		n.FormatSpec, n.Returns, n.Annotation, n.Default,
	}
	all := slices.Concat(
		n.DecoratorList, n.Bases, n.Targets, n.Args, n.Keywords, n.Elts, n.Keys, n.Values, n.Generators, n.Ifs, n.Comparators, one,
		n.Body, n.Handlers, n.Orelse, n.FinalBody,
	)
	return slices.DeleteFunc(all, func(k *node) bool { return k == nil })
}

// walk calls f for n and all nodes below it. It skips what is below a node where f is false.
func walk(n *node, f func(*node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, k := range n.kids() {
		walk(k, f)
	}
}

// before reports whether a begins before b.
func before(a, b *node) bool { return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col }

// isWithin reports whether n is one of the lines of outer.
func (n *node) isWithin(outer *node) bool { return outer.Line <= n.Line && n.End <= outer.End }

func is(n *node, kinds ...string) bool { return n != nil && slices.Contains(kinds, n.Kind) }

// nameOf returns the name of a variable, "" if n is another expression.
func nameOf(n *node) string {
	if is(n, "Name") {
		return n.ID
	}
	return ""
}

// rootOf returns the variable a of a.b[c].d, "" if a is not a variable.
func rootOf(n *node) string {
	for is(n, "Attribute", "Subscript") {
		n = n.Value
	}
	return nameOf(n)
}

// constantOf returns the text of a constant of a type such as "str".
func constantOf(n *node, kind string) (string, bool) {
	if !is(n, "Constant") || n.Type != kind {
		return "", false
	}
	return n.Text, true
}

func isNone(n *node) bool {
	_, ok := constantOf(n, "NoneType")
	return ok
}

func isStarred(n *node) bool { return is(n, "Starred") }

// keyword returns the value of a call's keyword argument, nil if it has none.
func (n *node) keyword(name string) *node {
	for _, k := range n.Keywords {
		if k.Arg == name {
			return k.Value
		}
	}
	return nil
}

// argument returns argument i of a call, given by position or by name; nil if it is missing.
func (n *node) argument(i int, name string) *node {
	if i < len(n.Args) {
		return n.Args[i]
	}
	return n.keyword(name)
}

// program has the parts of the Python program that prints a syntax tree. It needs only Python's
// standard library.
//
//go:embed python/*.py
var program embed.FS

// programText joins the parts: what is read, what is rewritten, and the tree as JSON.
var programText = sync.OnceValues(func() (string, error) {
	var text strings.Builder
	for _, name := range strings.Fields(
		"modules reach nodes pattern texts calls methods classes functions assigns top tries simplify dump",
	) {
		part, err := program.ReadFile("python/" + name + ".py")
		if err != nil {
			return "", err
		}
		text.Write(part)
	}
	return text.String(), nil
})

// bootstrap runs the program from stdin, since it is too long for a command line on Windows. Every
// version of Python can read it.
const bootstrap = `import sys
if sys.version_info < (3, 8):
    sys.stdout.write('{"old": "%d.%d"}' % sys.version_info[:2])
else:
    exec(compile(sys.stdin.buffer.read(int(sys.argv.pop(1))), "migrate", "exec"))`

// MaxSource is the maximum size of a Python file, in bytes.
const MaxSource = 1 << 20

// Limits of reading one file. A tree is about fifty times as large as its text.
const (
	maxTree     = 256 << 20
	dumpTimeout = 30 * time.Second
)

// dumped is what dumpProgram prints.
type dumped struct {
	Tree     *node     `json:"tree"`
	Comments []comment `json:"comments"`
	Old      string    `json:"old"` // version of Python, if it is too old
	Error    string    `json:"error"`
	Line     int       `json:"line"`
	File     string    `json:"file"` // of the error, "" for the program's
	Notes    []comment `json:"notes"`
	Unused   []string  `json:"unused"` // functions and classes that no component reaches

	Imports map[string]string `json:"imports"` // local names to full names
	Stars   []star            `json:"stars"`
}

// star is from Module import *.
type star struct {
	Module string `json:"module"`
	Line   int    `json:"line"`
}

// comment is a comment of the program.
type comment struct {
	File  string `json:"file"` // of a note, "" for the program's
	Line  int    `json:"line"`
	Alone bool   `json:"alone"` // the only text of its line
	Text  string `json:"text"`  // with its #
}

// parse lets python read a program without executing it. An error in the program is a Problem.
func parse(ctx context.Context, python, name string, source []byte, roots []string) (*dumped, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("%s is too large for a component file: more than %d KiB",
			name, MaxSource>>10)
	}
	path, err := exec.LookPath(python)
	if err != nil {
		return nil, fmt.Errorf("%s not found: it is needed to read %s (install Python 3.8 or later, or put it on PATH)", python, name)
	}
	for i := range roots {
		if roots[i], err = filepath.Abs(roots[i]); err != nil {
			return nil, err
		}
	}
	text, err := programText()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	// -I: no environment variables, no user packages, no working folder; -S: no site.
	cmd := exec.CommandContext(ctx, path, append([]string{"-I", "-S", "-c", bootstrap, strconv.Itoa(len(text)), name}, roots...)...)
	cmd.Dir = string(filepath.Separator) // a shim of pyenv reads files of the working folder
	cmd.Stdin = io.MultiReader(strings.NewReader(text), bytes.NewReader(source))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s could not read %s: %w%s", path, name, err,
			lastLine(errs.String()))
	}
	return decode(path, name, out.Bytes())
}

func decode(path, name string, data []byte) (*dumped, error) {
	if len(data) > maxTree {
		return nil, fmt.Errorf("the syntax tree of %s is too large", name)
	}
	d := &dumped{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%s printed no syntax tree of %s: %w", path, name, err)
	}
	switch {
	case d.Old != "":
		return nil, fmt.Errorf("%s is Python %s, which is too old to read %s: install Python 3.8 or later", path, d.Old, name)
	case d.Error != "":
		return nil, Problem{File: cmp.Or(d.File, name), Line: d.Line, Msg: "not a valid Python program: " + d.Error}
	case d.Tree == nil || d.Tree.Kind == "":
		return nil, errors.New(path + " printed no syntax tree of " + name)
	}
	return d, nil
}

// lastLine returns a colon and the last line of an error output, "" if it is empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}
