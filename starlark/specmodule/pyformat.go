package specmodule

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// maxWidth bounds the width and precision of a formatted value.
const maxWidth = 10_000

// pyFormat is torchx.py.format(x, spec): Python's format() of strings and numbers.
func pyFormat(c call) (starlark.Value, error) {
	var x starlark.Value
	var text string
	if err := c.unpack("x", &x, "spec?", &text); err != nil {
		return nil, err
	}
	if text == "" {
		return pyStr(call{name: c.name, args: starlark.Tuple{x}})
	}
	s, err := parseFormatSpec(text)
	if err == nil {
		var out string
		if out, err = s.format(x); err == nil {
			return starlark.String(out), nil
		}
	}
	return nil, fmt.Errorf("format %q of a %s: %w", text, x.Type(), err)
}

// formatSpec is [[fill]align][sign][#][0][width][grouping][.precision][kind].
type formatSpec struct {
	fill      rune
	align     byte // one of < > ^ =, 0 if not given
	sign      byte // one of + - and space, 0 if not given
	alternate bool
	width     int
	grouping  string
	precision int // -1 if not given
	kind      byte
}

func parseFormatSpec(text string) (formatSpec, error) {
	s := formatSpec{fill: ' ', precision: -1}
	rest, filled := text, false
	if first, n := utf8.DecodeRuneInString(rest); len(rest) > n &&
		strings.IndexByte("<>^=", rest[n]) >= 0 {
		s.fill, s.align, rest, filled = first, rest[n], rest[n+1:], true
	} else if rest != "" && strings.IndexByte("<>^=", rest[0]) >= 0 {
		s.align, rest = rest[0], rest[1:]
	}
	if rest != "" && strings.IndexByte("+- ", rest[0]) >= 0 {
		s.sign, rest = rest[0], rest[1:]
	}
	rest, s.alternate = strings.CutPrefix(rest, "#")
	rest, zero := strings.CutPrefix(rest, "0")
	if zero && !filled {
		s.fill = '0'
	}
	if zero && s.align == 0 {
		s.align = '='
	}
	var err error
	if rest, s.width, err = leadingNumber(rest, 0); err != nil {
		return s, err
	}
	if rest != "" && (rest[0] == ',' || rest[0] == '_') {
		s.grouping, rest = rest[:1], rest[1:]
	}
	if after, dotted := strings.CutPrefix(rest, "."); dotted {
		if rest, s.precision, err = leadingNumber(after, -1); err != nil || s.precision < 0 {
			return s, fmt.Errorf("the precision is not a number")
		}
	}
	if len(rest) > 1 || rest != "" && strings.IndexByte("sdbcoxXneEfFgG%", rest[0]) < 0 {
		return s, fmt.Errorf("unknown format %q", rest)
	}
	if rest != "" {
		s.kind = rest[0]
	}
	return s, nil
}

func leadingNumber(s string, fallback int) (rest string, n int, err error) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 {
		return s, fallback, nil
	}
	n, err = strconv.Atoi(s[:digits])
	if err != nil || n > maxWidth {
		return s, 0, fmt.Errorf("the width or precision exceeds %d", maxWidth)
	}
	return s[digits:], n, nil
}

func (s formatSpec) format(x starlark.Value) (string, error) {
	switch x := x.(type) {
	case starlark.String:
		return s.text(string(x))
	case starlark.Bool:
		n := int64(0) // with a format other than "", Python treats bools as ints
		if x {
			n = 1
		}
		return s.int(big.NewInt(n))
	case starlark.Int:
		return s.int(x.BigInt())
	case starlark.Float:
		return s.float(float64(x))
	}
	return "", fmt.Errorf("only strings and numbers can be formatted")
}

func (s formatSpec) text(t string) (string, error) {
	if s.kind != 0 && s.kind != 's' || s.sign != 0 || s.alternate || s.grouping != "" ||
		s.align == '=' && s.fill != '0' {
		return "", fmt.Errorf("this format is only for numbers")
	}
	if s.align == '=' { // 05 pads strings at the end
		s.align = '<'
	}
	if runes := []rune(t); s.precision >= 0 && s.precision < len(runes) {
		t = string(runes[:s.precision])
	}
	return s.pad("", t, '<'), nil
}

func (s formatSpec) int(n *big.Int) (string, error) {
	if strings.IndexByte("eEfFgG%", s.kind) >= 0 && s.kind != 0 {
		f, _ := new(big.Float).SetInt(n).Float64()
		return s.float(f)
	}
	if s.precision >= 0 || s.kind == 's' || s.kind == 'c' || s.kind == 'n' {
		return "", fmt.Errorf("this format does not work for an int")
	}
	base, prefix := 10, ""
	switch s.kind {
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(rune(s.kind))
	}
	digits := new(big.Int).Abs(n).Text(base)
	if s.kind == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !s.alternate {
		prefix = ""
	}
	if s.grouping != "" && base != 10 {
		return "", fmt.Errorf("grouping works only for decimal numbers")
	}
	return s.number(n.Sign() < 0, prefix, digits, "")
}

func (s formatSpec) float(f float64) (string, error) {
	negative := f < 0 || f == 0 && strings.HasPrefix(strconv.FormatFloat(f, 'g', -1, 64), "-")
	if negative {
		f = -f
	}
	if s.alternate || s.kind != 0 && strings.IndexByte("eEfFgG%", s.kind) < 0 {
		return "", fmt.Errorf("this format is not supported for a float")
	}
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	tail := ""
	if math.IsInf(f, 0) || math.IsNaN(f) {
		if s.kind == '%' {
			tail = "%"
		}
		return s.number(negative, "", upperFor(s.kind, pyFloat(f)), tail)
	}
	var body string
	switch s.kind {
	case 0:
		if body = pyFloat(f); s.precision >= 0 {
			body = rounded(f, max(s.precision, 1))
		}
	case '%':
		body, tail = strconv.FormatFloat(f*100, 'f', precision, 64), "%"
	case 'g', 'G':
		body = general(f, max(precision, 1))
	default:
		body = strconv.FormatFloat(f, s.kind|0x20, precision, 64)
	}
	body = upperFor(s.kind, body)
	if i := strings.IndexAny(body, ".eE"); i >= 0 {
		body, tail = body[:i], body[i:]+tail
	}
	return s.number(negative, "", body, tail)
}

// upperFor returns the text of a float in upper case if the kind requires it.
func upperFor(kind byte, body string) string {
	if kind == 'E' || kind == 'G' || kind == 'F' {
		return strings.ToUpper(body)
	}
	return body
}

// general formats f like %g of C: precision digits, an exponent below -4 and from precision on,
// no trailing zeros.
func general(f float64, precision int) string {
	e := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(e, "e")
	x, err := strconv.Atoi(exponent)
	if err != nil { // cannot happen
		return e
	}
	if x < -4 || x >= precision {
		return trimZeros(mantissa) + "e" + exponent
	}
	return trimZeros(strconv.FormatFloat(f, 'f', precision-1-x, 64))
}

// rounded formats f like Python without a kind: like str(), with at most precision digits.
func rounded(f float64, precision int) string {
	body := general(f, precision)
	if strings.ContainsAny(body, ".e") {
		return body
	}
	if len(body) < precision {
		return body + ".0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', precision-1, 64), "e") // .0 would need another digit
	return trimZeros(mantissa) + "e" + exponent
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// number joins sign, prefix, digits and tail.
func (s formatSpec) number(negative bool, prefix, digits, tail string) (string, error) {
	if s.grouping != "" {
		if s.align == '=' && s.fill == '0' {
			return "", fmt.Errorf("grouping with leading zeros is not supported")
		}
		var b strings.Builder
		for i, d := range digits {
			if i > 0 && (len(digits)-i)%3 == 0 {
				b.WriteString(s.grouping)
			}
			b.WriteRune(d)
		}
		digits = b.String()
	}
	sign := ""
	switch {
	case negative:
		sign = "-"
	case s.sign == '+' || s.sign == ' ':
		sign = string(rune(s.sign))
	}
	return s.pad(sign+prefix, digits+tail, '>'), nil
}

// pad pads to the width; `=` pads after the sign.
func (s formatSpec) pad(head, body string, align byte) string {
	if s.align != 0 {
		align = s.align
	}
	missing := s.width - utf8.RuneCountInString(head+body)
	if missing <= 0 {
		return head + body
	}
	fill := func(n int) string { return strings.Repeat(string(s.fill), n) }
	switch align {
	case '<':
		return head + body + fill(missing)
	case '^':
		return fill(missing/2) + head + body + fill(missing-missing/2)
	case '=':
		return head + fill(missing) + body
	}
	return fill(missing) + head + body
}
