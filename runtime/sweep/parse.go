package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
)

// ParseGrid parses --grid NAME=VALUE,VALUE2.
func ParseGrid(text string) (Grid, error) {
	name, values, err := parseValues(text)
	return Grid{name, values}, err
}

// ParseChoice parses --choice NAME=VALUE,VALUE2.
func ParseChoice(text string) (Draw, error) {
	name, values, err := parseValues(text)
	return Draw{name, choice(values)}, err
}

// parseValues parses NAME=VALUE,VALUE2, or NAME=["VALUE", "VALUE2"] (JSON) for values with
// commas.
func parseValues(text string) (name string, values []string, err error) {
	name, list, err := cutName(text)
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(list, "[") {
		values, err = jsonValues(list)
	} else {
		values = strings.Split(list, ",")
	}
	if err == nil && len(values) == 0 {
		err = errors.New("no values")
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", humanize.Quote(text), err)
	}
	return name, values, nil
}

func cutName(text string) (name, rest string, err error) {
	name, rest, ok := strings.Cut(text, "=")
	if name = strings.TrimLeft(name, "-"); !ok || name == "" {
		return "", "", fmt.Errorf("%s is not NAME=VALUES", humanize.Quote(text))
	}
	return name, rest, nil
}

func jsonValues(text string) ([]string, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil || d.More() {
		return nil, fmt.Errorf("a list that starts with [ must be JSON (%w)", cmpErr(err))
	}
	values := make([]string, len(list))
	for i, v := range list {
		var err error
		if values[i], err = valueText(v); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("text behind the list")
	}
	return err
}

// valueText returns a JSON value as a user would type it on a command line.
func valueText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], nil
	}
	return "", errors.New("values must be texts, numbers, true or false")
}

// choice draws one of several values, each as often.
type choice []string

func (c choice) Draw(r *rand.Rand) string { return c[r.IntN(len(c))] }

// ParseRange parses --range NAME=lin|log|int:LOW..HIGH. The bounds of int are included.
func ParseRange(text string) (Draw, error) {
	name, rest, err := cutName(text)
	if err != nil {
		return Draw{}, err
	}
	kind, bounds, ok := strings.Cut(rest, ":")
	low, high, ok2 := strings.Cut(bounds, "..")
	if !ok || !ok2 {
		return Draw{}, fmt.Errorf("%s is not NAME=lin|log|int:LOW..HIGH", humanize.Quote(text))
	}
	d, err := parseDistribution(kind, low, high)
	if err != nil {
		return Draw{}, fmt.Errorf("%s: %w", humanize.Quote(text), err)
	}
	return Draw{name, d}, nil
}

func parseDistribution(kind, low, high string) (Distribution, error) {
	switch kind {
	case "int":
		return parseIntegers(low, high)
	case "lin", "log":
		return parseReals(kind, low, high)
	}
	return nil, fmt.Errorf("unknown distribution %s: use lin, log or int", humanize.Quote(kind))
}

// integers draws from low to high, both included.
type integers struct{ low, high int64 }

func parseIntegers(low, high string) (Distribution, error) {
	l, errLow := strconv.ParseInt(low, 10, 64)
	h, errHigh := strconv.ParseInt(high, 10, 64)
	switch {
	case errors.Join(errLow, errHigh) != nil:
		return nil, errors.New("the bounds of int must be whole numbers below 2^63")
	case l >= h || h-l < 0:
		return nil, errors.New("the first bound must be less than the second, by less than 2^63")
	}
	return integers{l, h}, nil
}

func (d integers) Draw(r *rand.Rand) string {
	return strconv.FormatInt(d.low+int64(r.Uint64N(uint64(d.high-d.low)+1)), 10)
}

// reals draws from low to high evenly, or evenly by the logarithm.
type reals struct {
	low, high float64
	isLog     bool
}

func parseReals(kind, low, high string) (Distribution, error) {
	l, errLow := strconv.ParseFloat(low, 64)
	h, errHigh := strconv.ParseFloat(high, 64)
	switch {
	case errors.Join(errLow, errHigh) != nil || math.IsNaN(l) ||
		math.IsNaN(h) || math.IsInf(h-l, 0):
		return nil, errors.New("the bounds must be finite numbers")
	case l >= h:
		return nil, errors.New("the first bound must be less than the second")
	case kind == "log" && l <= 0:
		return nil, errors.New("the bounds of log must be greater than 0")
	}
	return reals{l, h, kind == "log"}, nil
}

// digits are the significant digits of a drawn number: enough to search, few enough to read.
const digits = 6

func (d reals) Draw(r *rand.Rand) string {
	v := d.low + r.Float64()*(d.high-d.low)
	if d.isLog {
		v = math.Exp(math.Log(d.low) + r.Float64()*(math.Log(d.high)-math.Log(d.low)))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // of our own text
	return strconv.FormatFloat(min(max(rounded, d.low), d.high), 'g', -1, 64)
}
