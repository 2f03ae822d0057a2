package component

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/runtime/pattern"
	"torchx/starlark/interp"
)

// Kind is the type of a parameter's values, without element types.
type Kind int

// The kinds. A component gets a str for Enum, Path and Resource, seconds as an int (a
// float if they have a fraction) for Duration, bytes as an int for ByteSize.
const (
	Unset Kind = iota // the docstring gives no type
	String
	Int
	Float
	Bool
	List
	Dict
	Enum
	Duration
	ByteSize
	Path
	Resource // a name from specs.named_resources
)

// String returns the name used in docstrings, such as "str".
func (k Kind) String() string { return kinds[k].name }

// kind is everything that help, errors, completion, lint and editors know about an argument type.
//
// To add one, add a constant above and a row to kinds, then describe it in
// cmd/torchx/testdata/language.md. A type that has element types, like List, also needs a case in
// typeParser.name and in the methods of Type that read and show values.
type kind struct {
	wording
	traits
	codec
}

// wording is how a kind and its values are written.
type wording struct {
	name     string   // in docstrings
	examples []string // two values as typed; none for an Enum, which has choices
	expected string   // the syntax of a value, with an example; "" if the name is enough
	unit     string   // what the number passed to a component counts; "" if a string is a valid value
	members  string   // the Starlark type whose methods a value has; "" for none
}

// traits are rules of a kind. The zero value suits most kinds.
type traits struct {
	bare       string   // the value of an option typed without one; "" if a value is required
	words      []string // all values, if every parameter has the same ones
	key        bool     // allowed for the keys of a dict
	signed     bool     // "-1" is a value, not an option
	notNumeric bool     // a JSON number is not a value
	files      bool     // a value may be the path of a file
	blank      bool     // "" is a value although the choices do not list it
	strict     bool     // a default must be of the type; for its own types TorchX accepts any default
}

// codec converts values. Each function returns false if the argument is not a value of the kind.
type codec struct {
	read    func(text string) (starlark.Value, bool)
	show    func(v starlark.Value) (string, bool)
	literal func(v starlark.Value) (string, bool) // a value of another kind as Starlark code of this kind; may be nil
}

// kinds is indexed by Kind.
var kinds = [...]kind{
	Unset: {codec: codec{read: readString, show: showAs[starlark.String]}},
	String: {
		wording{name: "str", examples: []string{"a", "b"}, members: "string"},
		traits{key: true, files: true},
		codec{readString, showAs[starlark.String], literalString},
	},
	Int: {
		wording{name: "int", examples: []string{"3", "4"}, expected: "a whole number such as 3"},
		traits{key: true, signed: true},
		codec{readInt, showAs[starlark.Int], literalInt},
	},
	Float: {
		wording{name: "float", examples: []string{"1.5", "2"}, expected: "a number such as 1.5"},
		traits{key: true, signed: true},
		codec{read: readFloat, show: showNumber},
	},
	Bool: {
		wording{name: "bool", examples: []string{"true", "false"}, expected: "true or false"},
		traits{key: true, bare: "true", words: []string{"true", "false"}, notNumeric: true},
		codec{readBool, showAs[starlark.Bool], literalBool},
	},
	List: {wording: wording{name: "list", members: "list"}, codec: codec{show: showAs[*starlark.List]}},
	Dict: {wording: wording{name: "dict", members: "dict"}, codec: codec{show: showAs[*starlark.Dict]}},
	Enum: {
		wording{name: "enum", members: "string"},
		traits{strict: true},
		codec{read: readString, show: showAs[starlark.String]},
	},
	Duration: {
		wording{
			name: "duration", examples: []string{"90s", "2h"}, unit: "seconds",
			expected: "seconds, or a time such as 90s, 1h30m or 2d",
		},
		traits{strict: true},
		codec{read: readDuration, show: showDuration},
	},
	ByteSize: {
		wording{
			name: "bytesize", examples: []string{"512MiB", "10G"}, unit: "bytes",
			expected: "bytes, or a size such as 512MiB or 10G",
		},
		traits{strict: true},
		codec{read: readByteSize, show: showByteSize},
	},
	Path: {
		wording{
			name: "path", examples: []string{"data/train.csv", "b.csv"}, members: "string",
			expected: "a file or folder such as data/train.csv",
		},
		traits{files: true, notNumeric: true},
		codec{read: readString, show: showAs[starlark.String]},
	},
	Resource: {
		wording{
			name: "resource", examples: []string{"gpu.small", "cpu.small"}, members: "string",
			expected: "a named resource such as gpu.small",
		},
		traits{strict: true, blank: true},
		codec{read: readString, show: showAs[starlark.String]},
	},
}

// maxDigits bounds the digits of an int, as Python does: parsing takes quadratic time.
const maxDigits = 4300

var (
	intForm   = pattern.Lazy(`^[+-]?[0-9]+(_[0-9]+)*$`)
	floatForm = pattern.Lazy(`^(?i)[+-]?(inf|infinity|nan|([0-9]+(_[0-9]+)*\.?([0-9]+(_[0-9]+)*)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?)$`)
)

func readString(text string) (starlark.Value, bool) { return starlark.String(text), true }

func readInt(text string) (starlark.Value, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxDigits || !intForm().MatchString(text) {
		return nil, false
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(text, "_", ""), 10)
	if !ok {
		return nil, false
	}
	return starlark.MakeBigInt(n), true
}

func readFloat(text string) (starlark.Value, bool) {
	text = strings.TrimSpace(text)
	if !floatForm().MatchString(text) {
		return nil, false
	}
	// A number out of range is an infinity, as in Python.
	f, _ := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return starlark.Float(f), true
}

// readBool accepts the words of run options. TorchX reads some of them as false for components.
func readBool(text string) (starlark.Value, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1", "yes", "on":
		return starlark.True, true
	case "false", "0", "no", "off":
		return starlark.False, true
	}
	return nil, false
}

func readDuration(text string) (starlark.Value, bool) {
	d, err := humanize.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return nil, false
	}
	if d%time.Second == 0 {
		return starlark.MakeInt64(int64(d / time.Second)), true
	}
	return starlark.Float(d.Seconds()), true
}

func readByteSize(text string) (starlark.Value, bool) {
	n, err := humanize.ParseBytes(strings.TrimSpace(text))
	return starlark.MakeInt64(n), err == nil
}

// showAs shows values of one Starlark type.
func showAs[V starlark.Value](v starlark.Value) (string, bool) {
	if _, ok := v.(V); !ok {
		return "", false // converting another value to text could take forever
	}
	return showPlain(v), true
}

func showNumber(v starlark.Value) (string, bool) {
	if _, ok := starlark.AsFloat(v); !ok {
		return "", false
	}
	return showPlain(v), true
}

// showPlain returns any value but a list or dict as it would be typed.
func showPlain(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return string(v)
	case starlark.Bool:
		return strconv.FormatBool(bool(v))
	case starlark.Int:
		if v.BigInt().BitLen() <= 4*maxDigits {
			return v.String()
		}
	case starlark.Float:
		f := float64(v)
		if math.Abs(f) < 1e15 && f == math.Trunc(f) {
			return strconv.FormatFloat(f, 'f', 1, 64)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return interp.Show(v)
}

// maxSeconds is the longest duration that can be written with units: the limit of time.Duration.
const maxSeconds = math.MaxInt64 / int64(time.Second)

func showDuration(v starlark.Value) (string, bool) {
	seconds, ok := starlark.AsFloat(v)
	if !ok || !(seconds >= 0) || seconds > float64(maxSeconds) {
		return "", false
	}
	if n, isInt := v.(starlark.Int); isInt {
		whole, _ := n.Int64() // at most maxSeconds
		return humanize.FormatDuration(time.Duration(whole) * time.Second), true
	}
	return humanize.FormatDuration(time.Duration(math.Round(seconds * float64(time.Second)))), true
}

func showByteSize(v starlark.Value) (string, bool) {
	n, ok := v.(starlark.Int)
	if !ok {
		return "", false
	}
	size, ok := n.Int64()
	if !ok || size < 0 {
		return "", false
	}
	return humanize.FormatBytes(size), true
}

func literalString(v starlark.Value) (string, bool) {
	if _, ok := starlark.AsFloat(v); !ok {
		return "", false
	}
	return strconv.Quote(v.String()), true
}

func literalInt(v starlark.Value) (string, bool) {
	text, _ := starlark.AsString(v)
	n, ok := new(big.Int).SetString(strings.TrimSpace(text), 10)
	if !ok {
		return "", false
	}
	return n.String(), true
}

func literalBool(v starlark.Value) (string, bool) {
	text, _ := starlark.AsString(v)
	word, ok := map[string]string{"true": "True", "false": "False"}[strings.ToLower(strings.TrimSpace(text))]
	return word, ok
}
