package backend

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UsageText describes options for `torchx runopts`: a usage line with the required ones first,
// then each with its type, default and help. Lines are wrapped at width columns; 0 means no
// limit.
func UsageText(opts []Option, width int) string {
	if len(opts) == 0 {
		return "usage:\n    (no options)\n"
	}
	required, optional := splitRequired(opts)
	var usage []string
	for _, o := range slices.Concat(required, optional) {
		text := o.Key + "=" + strings.ToUpper(o.Key)
		if !o.Required {
			text = "[" + text + "]"
		}
		usage = append(usage, text)
	}
	var b strings.Builder
	b.WriteString("usage:\n")
	b.WriteString(wrap(usage, ",", "    ", width))
	for _, group := range []struct {
		title string
		opts  []Option
	}{{"required arguments", required}, {"optional arguments", optional}} {
		if len(group.opts) > 0 {
			fmt.Fprintf(&b, "\n%s:\n", group.title)
			for _, o := range group.opts {
				b.WriteString(o.usage(width))
			}
		}
	}
	return b.String()
}

// splitRequired returns the required options and the others, each in order.
func splitRequired(opts []Option) (required, optional []Option) {
	for _, o := range opts {
		if o.Required {
			required = append(required, o)
		} else {
			optional = append(optional, o)
		}
	}
	return required, optional
}

func (o Option) usage(width int) string {
	kind := string(o.Type)
	if !o.Required {
		kind += ", " + FormatValue(o.Default)
	}
	text := fmt.Sprintf("    %s=%s (%s)\n", o.Key, strings.ToUpper(o.Key), kind)
	help := strings.Fields(o.Help)
	if o.Choices != nil {
		help = append(help, "(one of "+strings.Join(o.Choices, ", ")+")")
	}
	if len(help) > 0 {
		text += wrap(help, " ", "        ", width)
	}
	return text
}

// wrap joins words by sep into lines of at most width columns, if the words allow it.
func wrap(words []string, sep, indent string, width int) string {
	var b strings.Builder
	used := 0
	for i, word := range words {
		if i < len(words)-1 {
			word += sep
		}
		n := utf8.RuneCountInString(strings.TrimRight(word, " "))
		if used > 0 && width > 0 && used+n > width {
			b.WriteByte('\n')
			used = 0
		}
		if used == 0 {
			b.WriteString(indent)
			used = len(indent)
		}
		b.WriteString(word)
		used += utf8.RuneCountInString(word)
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// FormatValue formats a value for -cfg and .torchxconfig; nil is None.
func FormatValue(value any) string {
	switch v := value.(type) {
	case nil:
		return none
	case []string:
		return strings.Join(v, ";")
	case map[string]string:
		var entries []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			entries = append(entries, key+":"+v[key])
		}
		return strings.Join(entries, ";")
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// maxPlaceholder is the length at which TorchX cuts a placeholder, in characters.
const maxPlaceholder = 60

// Placeholders returns the keys that `torchx configure` writes for a backend: a placeholder
// for each required option and, if optional is set, the others with their defaults.
func Placeholders(opts []Option, optional bool) [][2]string {
	var pairs [][2]string
	for _, o := range opts {
		switch {
		case o.Required:
			pairs = append(pairs, [2]string{o.Key, o.placeholder()})
		case optional:
			pairs = append(pairs, [2]string{o.Key, FormatValue(o.Default)})
		}
	}
	return pairs
}

func (o Option) placeholder() string {
	text := fmt.Sprintf("%s:(%s) %s", placeholder, o.Type,
		strings.Join(strings.Fields(o.Help), " "))
	if r := []rune(text); len(r) > maxPlaceholder {
		return string(r[:maxPlaceholder]) + "..."
	}
	return text
}

// CheckOptions validates a backend's list: unique keys, no defaults of required options, and
// defaults of the right Go type and among the choices, and a declared Risk.
func CheckOptions(opts []Option) error {
	seen := map[string]bool{}
	for _, o := range opts {
		switch {
		case o.Key == "" || seen[o.Key]:
			return fmt.Errorf("option %q has no key or is defined twice", o.Key)
		case o.Required && o.Default != nil:
			return fmt.Errorf("option %s is required: it must not have a default", o.Key)
		case expected[o.Type] == "":
			return fmt.Errorf("option %s has unknown type %q", o.Key, o.Type)
		case !slices.Contains(risks, o.Risk):
			return fmt.Errorf("option %s declares no risk", o.Key)
		case !o.valid(o.Default):
			return fmt.Errorf("option %s: the default %v is not of type %s or not a choice",
				o.Key, o.Default, o.Type)
		}
		seen[o.Key] = true
	}
	return nil
}

// valid reports whether value is nil or has the option's Go type and is a choice.
func (o Option) valid(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return o.Type == TypeStr && (o.Choices == nil || slices.Contains(o.Choices, v))
	case int:
		return o.Type == TypeInt
	case float64:
		return o.Type == TypeFloat
	case bool:
		return o.Type == TypeBool
	case []string:
		return o.Type == TypeList
	case map[string]string:
		return o.Type == TypeMap
	}
	return false
}

// CamelToSnake converts validateSpec to validate_spec by TorchX's rule: a word starts with a
// capital after a lower-case letter or digit, so HTTPServer becomes httpserver and
// reservedMemMB reserved_mem_mb.
func CamelToSnake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' && i > 0 && isSmall(name[i-1]) {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

// isKey reports whether a given key is the option's, or its spelling in camelCase. Otherwise
// letter case matters: LOG_DIR is not log_dir.
func isKey(given, option string) bool {
	isCamel := !strings.Contains(given, "_") && strings.ToUpper(given) != given
	return given == option || isCamel && CamelToSnake(given) == option
}

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// SplitCSV splits a list such as that of `status --roles a,b` at commas and trims the parts,
// including empty ones; a blank text gives an empty list.
func SplitCSV(text string) []string {
	list := []string{}
	if strings.TrimSpace(text) == "" {
		return list
	}
	for part := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(part))
	}
	return list
}
