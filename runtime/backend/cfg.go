package backend

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/runtime/kv"
	"torchx/runtime/suggest"
)

// none is the text of a value that means "no value".
const none = "None"

// placeholder is what `torchx configure` writes where a value must be filled in.
const placeholder = "#FIXME"

// Warning is one line for stderr about an option that has no effect.
type Warning = string

// Value is one option as it was given, not yet of the option's type.
type Value struct {
	Key    string
	Text   string
	Quoted bool   // Text stood in quotes: None in it is a text
	Origin string // where it stands, for messages: "-cfg", "FILE:LINE"
	Source Source

	// Packed says that Text is the last of `k=v,k2=v2`: a word behind a delimiter
	// in it is more likely a key without a value than a part of the value.
	Packed bool
	// IsJSON says that Data counts, not Text: what encoding/json made of a JSON value.
	IsJSON bool
	Data   any
}

// Source is who chose a value.
type Source int

// The sources.
const (
	SourceUser    Source = iota // this command line, the environment, a file in the user's home
	SourceProject               // a file of the working folder, which others may have written
	SourceRecord                // what was recorded with an app
)

// Layer is one source of options. Of several layers the first that has a key wins.
type Layer []Value

// CfgLayer reads the text of -cfg. Errors: ErrInvalidOption.
func CfgLayer(text string) (Layer, error) {
	pairs, err := kv.Parse(text)
	if err != nil {
		return nil, Errorf(ErrInvalidOption, "-cfg: %w", err)
	}
	var layer Layer
	for i, p := range pairs {
		layer = append(layer, Value{Key: p.Key, Text: p.Value, Quoted: p.Quoted, Packed: i == len(pairs)-1, Origin: "-cfg"})
	}
	return layer, nil
}

// DefaultsLayer holds the options that an alias of a backend implies.
func DefaultsLayer(defaults map[string]string, origin string) Layer {
	var layer Layer
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		layer = append(layer, Value{Key: key, Text: defaults[key], Origin: origin})
	}
	return layer
}

// JSONLayer holds options that were given as a JSON object.
func JSONLayer(object map[string]any, origin string) Layer {
	var layer Layer
	for _, key := range slices.Sorted(maps.Keys(object)) {
		layer = append(layer, Value{Key: key, IsJSON: true, Data: object[key], Origin: origin})
	}
	return layer
}

// From returns the layer with all values from a source.
func (l Layer) From(s Source) Layer {
	l = slices.Clone(l)
	for i := range l {
		l[i].Source = s
	}
	return l
}

// Resolve gives every option its value: that of the first layer that has one,
// else the option's default, else nil. A value None (JSON null) is nil and hides
// later layers and the default. Keys that are no option make a warning and are
// left out. Errors: ErrInvalidOption, with key, value and the expected form.
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

// Explained is an option with the value it has and why.
type Explained struct {
	Option
	Value any // of the option's type, nil for none; the text as given if Err is set
	// Given are the values that layers have for it, the one that counts first; none
	// if the default counts.
	Given []Value
	Err   error // the value cannot be used
}

// Explain says of every option what Resolve makes of it. Unlike that it goes on
// after an error, and a required option may lack its value.
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

// Unused says of each value that is no option's, in one line, where it stands and
// which option was probably meant.
func Unused(opts []Option, layers ...Layer) []Warning { return warnings(opts, layers) }

// Find returns the value that counts for an option, if any layer has one.
func Find(key string, layers ...Layer) (Value, bool) {
	for _, layer := range layers {
		for _, v := range layer {
			if names(v.Key, key) {
				return v, true
			}
		}
	}
	return Value{}, false
}

// Misspelled returns an error for a value that no option takes and whose key looks like
// that of an option that protects: the app would run without the limit. Errors:
// ErrInvalidOption.
func Misspelled(opts []Option, layers ...Layer) error {
	for _, layer := range layers {
		for _, v := range layer {
			if o, known := meant(opts, v.Key); !known && o.Protects {
				return Errorf(ErrInvalidOption, "%s: unknown option %s: the app would run without %s. Did you mean %s?",
					v.Origin, printable(v.Key), o.Key, o.Key)
			}
		}
	}
	return nil
}

// meant returns the option of that name, or if none is known the most similar one; its
// Key is "" if none is similar. Letter case and `-` for `_` do not count as differences.
func meant(opts []Option, key string) (o Option, known bool) {
	var keys []string
	for _, o := range opts {
		if names(key, o.Key) {
			return o, true
		}
		keys = append(keys, o.Key)
	}
	closest, ok := suggest.Closest(strings.ToLower(strings.ReplaceAll(key, "-", "_")), keys)
	if ok {
		o = opts[slices.Index(keys, closest)]
	}
	return o, false
}

// warnings names the values that no option takes.
func warnings(opts []Option, layers []Layer) []Warning {
	var list []Warning
	for _, layer := range layers {
		seen := map[string]string{}
		for _, v := range layer {
			o, known := meant(opts, v.Key)
			first, twice := seen[o.Key]
			switch {
			case !known:
				list = append(list, fmt.Sprintf("%s: unknown option %s is ignored.%s", v.Origin, printable(v.Key), hint(o)))
			case twice:
				list = append(list, fmt.Sprintf("%s: option %s is ignored: it was given before as %s", v.Origin, printable(v.Key), first))
			default:
				seen[o.Key] = printable(v.Key)
			}
		}
	}
	return list
}

// hint says which option was probably meant, and that a run is refused then.
func hint(o Option) string {
	switch {
	case o.Key == "":
		return ""
	case o.Protects:
		return " Did you mean " + o.Key + "? `torchx run` refuses it."
	}
	return " Did you mean " + o.Key + "?"
}
