package interp

import (
	"maps"
	"math/bits"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A guardFunc implements a guard of rewrite.
type guardFunc = func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error)

// environment returns the names that files see: the guarded universe, the guards of rewrite, and
// given, which overrides both.
func environment(given starlark.StringDict) starlark.StringDict {
	env := guardedUniverse()
	define := func(name string, f guardFunc) {
		name = guardPrefix + name
		env[name] = starlark.NewBuiltin(name, func(
			t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple,
		) (starlark.Value, error) {
			return f(t, args)
		})
	}
	for _, op := range []syntax.Token{
		syntax.PLUS, syntax.STAR, syntax.LTLT, syntax.PERCENT, syntax.IN, syntax.NOT_IN,
	} {
		define(op.String(), binaryGuard(op))
	}
	for _, op := range []syntax.Token{
		syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE,
	} {
		define(op.String(), compareGuard(op))
	}
	for assign, op := range augmented {
		define(assign.String(), assignGuard(op))
	}
	define("push", pushGuard)
	define("methods", methodsGuard)
	define("args", argsGuard)
	maps.Copy(env, given)
	return env
}

// binaryGuard returns a guard that checks and evaluates x op y.
func binaryGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		if err := checkBinary(t, op, args[0], args[1]); err != nil {
			return nil, err
		}
		return starlark.Binary(op, args[0], args[1])
	}
}

// compareGuard returns a guard that checks and evaluates the comparison x op y.
func compareGuard(op syntax.Token) guardFunc {
	return func(_ *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		if err := CheckCompare(op.String(), args...); err != nil {
			return nil, err
		}
		ok, err := starlark.Compare(op, args[0], args[1])
		return starlark.Bool(ok), err
	}
}

// assignGuard returns a guard that checks x op= y and returns y. It is called with x and y, or
// with y after the operands of x were pushed.
func assignGuard(op syntax.Token) guardFunc {
	return func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[len(args)-1]
		if len(args) == 1 {
			x = popElement(t)
		}
		if list, ok := x.(*starlark.List); ok && op == syntax.PLUS { // += accepts any iterable
			return y, step{t, "+="}.extend(list, y)
		}
		return y, checkBinary(t, op, x, y)
	}
}

// pushGuard keeps a value for assignGuard, so that the left side of x[i] op= y is evaluated only
// once.
func pushGuard(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	if r := runOf(t); r != nil {
		r.stash = append(r.stash, args[0])
	}
	return args[0], nil
}

// popElement removes x and i, the last pushed values, and returns x[i]; None if it does not exist,
// or on a thread of another program.
func popElement(t *starlark.Thread) starlark.Value {
	r := runOf(t)
	if r == nil || len(r.stash) < 2 {
		return starlark.None
	}
	at := len(r.stash) - 2
	x, i := r.stash[at], r.stash[at+1]
	r.stash = r.stash[:at]
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
	return starlark.None
}

// methodsGuard returns x with guarded methods.
func methodsGuard(_ *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	switch x := args[0].(type) {
	case starlark.String, *starlark.List, *starlark.Dict, *starlark.Set:
		return guardedMethods{x.(starlark.HasAttrs)}, nil
	}
	return args[0], nil
}

// argsGuard bounds x in f(*x).
func argsGuard(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
	return args[0], step{t, "a call with *args"}.items(args[0], itemBytes)
}

// checkBinary returns an error if x op y would take too much time or memory in one step: s + s
// grows from 768 MiB to 3 GiB before the watchdog looks, [0] * 200000000 takes 3 GiB and "%(k)s…"
// % d any amount at once, and a number that is squared again and again takes minutes a step.
func checkBinary(t *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
	s := step{t, op.String()}
	switch op {
	case syntax.PLUS: // numbers grow by at most one bit
		return s.charge(contentBytes(x) + contentBytes(y))
	case syntax.STAR:
		return s.product(x, y)
	case syntax.LTLT:
		if n, ok := x.(starlark.Int); ok {
			return s.number(intBits(n) + 512) // the engine shifts by less than 512
		}
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			return s.interpolate(string(format), y)
		}
	case syntax.IN, syntax.NOT_IN:
		switch y.(type) {
		case *starlark.List, starlark.Tuple: // other types have a lookup instead of a search
			return CheckCompare(s.what, y)
		}
	}
	return nil
}

func (s step) product(x, y starlark.Value) error {
	n, ok := x.(starlark.Int)
	if !ok {
		x, y = y, x
		if n, ok = x.(starlark.Int); !ok {
			return nil
		}
	}
	if m, ok := y.(starlark.Int); ok {
		return s.number(intBits(n) + intBits(m))
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
	return s.charge(total)
}

// number bounds a number of n bits.
func (s step) number(n int) error {
	if n > maxIntBits {
		return sizeError("%s would make a number of more than %d bits", s.what, maxIntBits)
	}
	return nil
}

// intBits returns the length of x in bits, exact above 64.
func intBits(x starlark.Int) int {
	if _, small := x.Int64(); small {
		return 64
	}
	return x.BigInt().BitLen()
}
