package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/runtime/config"
	"torchx/runtime/humanize"
)

// none is the text that means "no value".
const none = "None"

// delimiters separate the pairs of -cfg, with spaces around them.
const delimiters = ",; "

// placeholder is what `torchx configure` writes for values to be filled in.
const placeholder = "#FIXME"

// Warning is one line for stderr about an option that has no effect.
type Warning = string

// Value is one option as given, before it is converted to the option's type.
type Value struct {
	Key    string
	Text   string
	Quoted bool   // Text was quoted, so None is a string
	Origin string // its source, for messages: "-cfg", "FILE:LINE"
	Source Source

	// Packed means that Text is the last value of `k=v,k2=v2`: text after a delimiter in
	// it is more likely a key without a value than part of the value.
	Packed bool
	// IsJSON means that Data is used instead of Text: a JSON value as decoded by encoding/json.
	IsJSON bool
	Data   any
}

// Source is the kind of place that a value comes from.
type Source int

// The sources.
const (
	SourceUser    Source = iota // this command line, the environment, a file in the user's home
	SourceProject               // a file in the working folder, whose author may not be the user
	SourceRecord                // the record of an app
)

// Layer is one source of options. The first layer with a key overrides the others.
type Layer []Value

// CfgLayer parses the value of -cfg. Delimiters that separate nothing, as in a=1,,b=2, are dropped.
// Errors: ErrInvalidOption.
func CfgLayer(text string) (Layer, error) {
	pairs, err := config.ParsePairs(text)
	if err != nil {
		return nil, Errorf(ErrInvalidOption, "-cfg: %w", err)
	}
	var layer Layer
	for i, p := range pairs {
		p = withoutStrayDelimiters(p)
		layer = append(layer, Value{Key: p.Key, Text: p.Value, Quoted: p.Quoted, Packed: i == len(pairs)-1, Origin: "-cfg"})
	}
	return layer, nil
}

// withoutStrayDelimiters returns a pair without delimiters before its key and after its value, which
// scripts that join pairs leave there. TorchX keeps them, and no option can use them.
func withoutStrayDelimiters(p config.Pair) config.Pair {
	p.Key = strings.TrimLeft(p.Key, delimiters)
	if value := strings.TrimRight(p.Value, delimiters); value != "" && !p.Quoted {
		return config.NewPair(p.Key, value)
	}
	return p
}

// DefaultsLayer returns the options that an alias of a backend implies.
func DefaultsLayer(defaults map[string]string, origin string) Layer {
	var layer Layer
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		layer = append(layer, Value{Key: key, Text: defaults[key], Origin: origin})
	}
	return layer
}

// JSONLayer returns options given as a JSON object.
func JSONLayer(object map[string]any, origin string) Layer {
	var layer Layer
	for _, key := range slices.Sorted(maps.Keys(object)) {
		layer = append(layer, Value{Key: key, IsJSON: true, Data: object[key], Origin: origin})
	}
	return layer
}

// From returns the layer with the source of all values replaced.
func (l Layer) From(s Source) Layer {
	l = slices.Clone(l)
	for i := range l {
		l[i].Source = s
	}
	return l
}

// Resolve determines the value of every option: from the first layer that has it, else its
// default, else nil. A value None (JSON null) is nil and overrides later layers and the
// default. Unknown keys are ignored with a warning. Errors: ErrInvalidOption, with key, value
// and expected format.
func Resolve(opts []Option, layers ...Layer) (Config, []Warning, error) {
	cfg := Config{}
	for _, o := range opts {
		value, err := resolve(o, layers)
		if err != nil {
			return nil, nil, err
		}
		if value == nil && o.Required {
			return nil, nil, fmt.Errorf("option %s (%s) is required and has no value: give -cfg %s=%s or write it into .torchxconfig: %w",
				o.Key, o.Type, o.Key, strings.ToUpper(o.Key), ErrInvalidOption)
		}
		cfg[o.Key] = value
	}
	return cfg, warnings(opts, layers), nil
}

func resolve(o Option, layers []Layer) (any, error) {
	v, ok := Find(o.Key, layers...)
	if !ok {
		return o.Default, nil
	}
	value, err := o.cast(v)
	if err != nil {
		return nil, Errorf(ErrInvalidOption, "%s: option %s: %w", v.Origin, o.Key, err)
	}
	return value, nil
}

// Explained is an option with its value and where that comes from.
type Explained struct {
	Option
	Value any // of the option's type, nil if none; the given text if Err is set
	// Given holds the values in layers, the effective one first; empty if the default
	// applies.
	Given []Value
	Err   error // why the value is invalid
}

// Explain returns what Resolve would use for every option. Unlike Resolve it continues after
// errors, and required options may lack values.
func Explain(opts []Option, layers ...Layer) []Explained {
	all := make([]Explained, len(opts))
	for i, o := range opts {
		e := Explained{Option: o, Value: o.Default}
		for _, layer := range layers {
			if v, ok := Find(o.Key, layer); ok {
				e.Given = append(e.Given, v)
			}
		}
		if len(e.Given) > 0 {
			if e.Value, e.Err = o.cast(e.Given[0]); e.Err != nil {
				e.Value = e.Given[0].Text
			}
		}
		all[i] = e
	}
	return all
}

// Unused returns a warning for each value without an option: where it was given and which
// option was probably meant.
func Unused(opts []Option, layers ...Layer) []Warning { return warnings(opts, layers) }

// Find returns the effective value of an option, if a layer has one.
func Find(key string, layers ...Layer) (Value, bool) {
	for _, layer := range layers {
		for _, v := range layer {
			if isKey(v.Key, key) {
				return v, true
			}
		}
	}
	return Value{}, false
}

// Misspelled returns an error if an unknown key is similar to an option that protects: the app
// would run without the limit. Errors: ErrInvalidOption.
func Misspelled(opts []Option, layers ...Layer) error {
	for _, layer := range layers {
		for _, v := range layer {
			if o, known := closestOption(opts, v.Key); !known && o.Protects {
				return Errorf(ErrInvalidOption, "%s: unknown option %s: the app would run without %s. Did you mean %s?",
					v.Origin, printable(v.Key), o.Key, o.Key)
			}
		}
	}
	return nil
}

// closestOption returns the option with a key, or if none is known the most similar one; its
// Key is "" if none is similar. Letter case and `-` for `_` do not count as differences.
func closestOption(opts []Option, key string) (o Option, known bool) {
	var keys []string
	for _, o := range opts {
		if isKey(key, o.Key) {
			return o, true
		}
		keys = append(keys, o.Key)
	}
	closest, ok := humanize.Closest(strings.ToLower(strings.ReplaceAll(key, "-", "_")), keys)
	if ok {
		o = opts[slices.Index(keys, closest)]
	}
	return o, false
}

// warnings describes the values without an option.
func warnings(opts []Option, layers []Layer) []Warning {
	var list []Warning
	for _, layer := range layers {
		seen := map[string]string{}
		for _, v := range layer {
			o, known := closestOption(opts, v.Key)
			first, twice := seen[o.Key]
			switch {
			case !known:
				list = append(list, fmt.Sprintf("%s: unknown option %s is ignored.%s", v.Origin, printable(v.Key), hint(o)))
			case twice:
				list = append(list, fmt.Sprintf("%s: option %s is ignored: it was already given as %s", v.Origin, printable(v.Key), first))
			default:
				seen[o.Key] = printable(v.Key)
			}
		}
	}
	return list
}

// hint suggests the option that was probably meant, and whether a run fails.
func hint(o Option) string {
	switch {
	case o.Key == "":
		return ""
	case o.Protects:
		return " Did you mean " + o.Key + "? `torchx run` rejects this."
	}
	return " Did you mean " + o.Key + "?"
}
