package interp

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Block is a statement, or the head of a compound one, with its number of runs.
type Block struct {
	Line, Col       int // of its first character, from 1
	EndLine, EndCol int // of the character after it
	Count           uint32
	Func            int // the line of the enclosing top-level function
}

// FileCoverage is the coverage of one file: of statements inside functions only, since all others
// run on load.
type FileCoverage struct {
	Path   string // absolute
	Blocks []Block
}

// Coverage returns the coverage of all files that Config.Cover selected, sorted by path.
func (i *Interp) Coverage() []FileCoverage {
	i.mu.Lock()
	defer i.mu.Unlock()
	var list []FileCoverage
	for _, path := range slices.Sorted(maps.Keys(i.covered)) {
		list = append(list, FileCoverage{path, i.covered[path].snapshot()})
	}
	return list
}

// ZeroCoverage parses a file that was not loaded and returns its coverage, with all counts zero.
// The error is an *Error.
func ZeroCoverage(path, name string, source []byte) (FileCoverage, error) {
	file, err := Parse(name, source)
	if err != nil {
		return FileCoverage{}, err
	}
	c := &counters{}
	c.insert(file)
	return FileCoverage{path, c.snapshot()}, nil
}

// coverName names the counting function. A step callback would credit the line of the instruction
// instead of the statement.
const coverName = guardPrefix + "cover"

// counters count the statements of one file. insert fills blocks before any statement runs.
type counters struct {
	blocks []Block
	def    int // the line of the top-level function being visited
	counts []atomic.Uint32
}

// counters returns new counters for a file to load, nil if the file is not covered.
func (i *Interp) counters(path string) *counters {
	if path == "" || i.cfg.Cover == nil || !i.cfg.Cover(path) {
		return nil
	}
	c := &counters{}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.covered[path] = c
	return c
}

func (c *counters) snapshot() []Block {
	blocks := slices.Clone(c.blocks)
	for n := range c.counts {
		blocks[n].Count = c.counts[n].Load()
	}
	return blocks
}

func (c *counters) builtin() *starlark.Builtin {
	return starlark.NewBuiltin(coverName, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		n, err := starlark.AsInt32(args[0])
		if err == nil {
			c.counts[n].Add(1)
		}
		return starlark.None, err
	})
}

// insert inserts a call of the counting function before each statement of a function.
func (c *counters) insert(f *syntax.File) {
	for _, s := range f.Stmts {
		c.insertInto(s, false)
	}
	c.counts = make([]atomic.Uint32, len(c.blocks))
}

// insertInto inserts counters into the statements of s; counted is set inside a function.
func (c *counters) insertInto(s syntax.Stmt, counted bool) {
	switch s := s.(type) {
	case *syntax.DefStmt:
		if !counted {
			c.def = int(s.Def.Line)
		}
		s.Body = c.list(s.Body, true, Docstring(s.Body) != nil)
	case *syntax.IfStmt:
		s.True = c.list(s.True, counted, false)
		s.False = c.list(s.False, counted, false)
	case *syntax.ForStmt:
		s.Body = c.list(s.Body, counted, false)
	case *syntax.WhileStmt:
		s.Body = c.list(s.Body, counted, false)
	}
}

// list returns statements with their counters; a docstring stays first.
func (c *counters) list(stmts []syntax.Stmt, counted, docstring bool) []syntax.Stmt {
	out := make([]syntax.Stmt, 0, 2*len(stmts))
	for n, s := range stmts {
		if counted && (n > 0 || !docstring) {
			out = append(out, c.counter(s))
		}
		c.insertInto(s, counted)
		out = append(out, s)
	}
	return out
}

// counter adds a block for a statement and returns the statement that counts it.
func (c *counters) counter(s syntax.Stmt) syntax.Stmt {
	start, end := s.Span()
	switch s := s.(type) { // of a compound statement, only the head
	case *syntax.IfStmt:
		_, end = s.Cond.Span()
	case *syntax.ForStmt:
		_, end = s.X.Span()
	case *syntax.WhileStmt:
		_, end = s.Cond.Span()
	case *syntax.DefStmt:
		_, end = s.Name.Span()
	}
	n := len(c.blocks)
	c.blocks = append(c.blocks, Block{Line: int(start.Line), Col: int(start.Col), EndLine: int(end.Line), EndCol: int(end.Col), Func: c.def})
	number := &syntax.Literal{Token: syntax.INT, TokenPos: start, Raw: strconv.Itoa(n), Value: int64(n)}
	return &syntax.ExprStmt{X: call(start, "cover", number)}
}
