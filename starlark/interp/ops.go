package interp

import (
	"math/bits"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// operators are the guarded binary operators.
var operators = []syntax.Token{
	syntax.PLUS, syntax.STAR, syntax.LTLT, syntax.PERCENT, syntax.PIPE,
	syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN,
}

// environment returns the names that files see: the guarded universe, the guards of rewrite, and
// given, which overrides both.
func environment(given starlark.StringDict) starlark.StringDict {
	env := guardedUniverse()
	for _, op := range operators {
		define(env, op.String(), binaryGuard(op))
	}
	for assign, name := range augmented {
		op := assign - syntax.PLUS_EQ + syntax.PLUS
		define(env, name+"=", identGuard(op))
		define(env, name+"[]=", indexGuard(op))
		define(env, name+".=", fieldGuard(op))
	}
	define(env, "push", pushGuard)
	define(env, "method", methodGuard)
	define(env, "slice", sliceGuard)
	define(env, "args", argsGuard)
	for name, v := range given {
		env[name] = v
	}
	return env
}

func define(env starlark.StringDict, name string, f func(*starlark.Thread, starlark.Tuple) (starlark.Value, error)) {
	name = guardPrefix + name
	env[name] = starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return f(t, args)
	})
}

type guardFunc = func(*starlark.Thread, starlark.Tuple) (starlark.Value, error)

// binaryGuard returns a guard that checks and evaluates x op y.
func binaryGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[1]
		if err := checkBinary(t, op, x, y); err != nil {
			return nil, err
		}
		switch op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
			ok, err := starlark.Compare(op, x, y)
			return starlark.Bool(ok), err
		}
		return starlark.Binary(op, x, y)
	}
}

// identGuard returns a guard that checks x op= y, given x and y, and returns y.
func identGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		return args[1], checkAssign(t, op, args[0], args[1])
	}
}

// pushGuard keeps a value for indexGuard or fieldGuard, so that the left side of x[i] op= y is
// evaluated only once.
func pushGuard(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	if r := runOf(t); r != nil {
		r.stash = append(r.stash, args[0])
	}
	return args[0], nil
}

// pop removes and returns the last n pushed values; nil on a thread of another program.
func pop(t *starlark.Thread, n int) []starlark.Value {
	r := runOf(t)
	if r == nil || len(r.stash) < n {
		return nil
	}
	at := len(r.stash) - n
	list := r.stash[at:]
	r.stash = r.stash[:at]
	return list
}

// indexGuard returns a guard that checks x[i] op= y, given y, and returns y.
func indexGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		y := args[0]
		if p := pop(t, 2); p != nil {
			if x := element(p[0], p[1]); x != nil {
				return y, checkAssign(t, op, x, y)
			}
		}
		return y, nil
	}
}

// element returns x[i], nil if it does not exist.
func element(x, i starlark.Value) starlark.Value {
	switch x := x.(type) {
	case starlark.Mapping:
		if v, found, err := x.Get(i); err == nil && found {
			return v
		}
	case starlark.Indexable:
		n, err := starlark.AsInt32(i)
		if n < 0 {
			n += x.Len()
		}
		if err == nil && n >= 0 && n < x.Len() {
			return x.Index(n)
		}
	}
	return nil
}

// fieldGuard returns a guard that checks x.name op= y, given y and the name, and returns y.
func fieldGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		y, name := args[0], string(args[1].(starlark.String))
		if p := pop(t, 1); p != nil {
			if obj, ok := p[0].(starlark.HasAttrs); ok {
				if x, err := obj.Attr(name); err == nil && x != nil {
					return y, checkAssign(t, op, x, y)
				}
			}
		}
		return y, nil
	}
}

// checkAssign checks x op= y. List += accepts any iterable.
func checkAssign(t *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
	if list, ok := x.(*starlark.List); ok && op == syntax.PLUS {
		return checkExtend(t, "+=", list, y)
	}
	return checkBinary(t, op, x, y)
}

// checkBinary returns an error if x op y would take too much time or memory in one step.
func checkBinary(t *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.PLUS:
		return checkSum(t, x, y)
	case syntax.STAR:
		return checkProduct(t, x, y)
	case syntax.LTLT:
		if n, ok := x.(starlark.Int); ok {
			return checkBits("<<", intBits(n)+512) // the engine shifts by less than 512
		}
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return checkInterpolate(t, string(format), y)
		}
	case syntax.PIPE:
		if starlark.Len(x) > 0 && starlark.Len(y) > 0 {
			return charge(t, "|", entryBytes*uint64(starlark.Len(x)+starlark.Len(y)))
		}
	case syntax.IN, syntax.NOT_IN:
		switch y.(type) {
		case *starlark.List, starlark.Tuple: // other types have a lookup instead of a search
			return checkComparable(op.String(), y)
		}
	default:
		if err := checkComparable(op.String(), x); err != nil {
			return err
		}
		return checkComparable(op.String(), y)
	}
	return nil
}

// checkSum bounds x + y; numbers grow by at most one bit.
func checkSum(t *starlark.Thread, x, y starlark.Value) error {
	n, m := contentBytes(x), contentBytes(y)
	if n == 0 || m == 0 {
		return charge(t, "+", max(n, m))
	}
	return charge(t, "+", n+m)
}

func checkProduct(t *starlark.Thread, x, y starlark.Value) error {
	n, ok := x.(starlark.Int)
	if !ok {
		x, y = y, x
		if n, ok = x.(starlark.Int); !ok {
			return nil
		}
	}
	if m, ok := y.(starlark.Int); ok {
		return checkBits("*", intBits(n)+intBits(m))
	}
	unit := contentBytes(y)
	times, fits := n.Int64()
	if unit == 0 || n.Sign() <= 0 {
		return nil
	}
	high, total := bits.Mul64(unit, uint64(times))
	if !fits || high != 0 {
		total = 1 << 63
	}
	return charge(t, "*", total)
}

// intBits returns the length of x in bits, exact above 64.
func intBits(x starlark.Int) int {
	if _, small := x.Int64(); small {
		return 64
	}
	return x.BigInt().BitLen()
}

func sliceGuard(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	switch args[0].(type) {
	case *starlark.List, starlark.Tuple:
		return args[0], charge(t, "[:]", contentBytes(args[0]))
	}
	return args[0], nil
}

// argsGuard bounds x in f(*x).
func argsGuard(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	return args[0], checkItems(t, "a call with *args", args[0], itemBytes)
}
