package spec

import "strings"

// Macros holds the values of the four macros for one replica.
type Macros struct {
	ImgRoot   string // ${img_root}
	AppID     string // ${app_id}
	ReplicaID string // ${replica_id}
	Rank0Env  string // ${rank0_env}: the name of the variable that holds rank 0's host
}

func (m Macros) lookup(name string) (string, bool) {
	switch name {
	case "img_root":
		return m.ImgRoot, true
	case "app_id":
		return m.AppID, true
	case "replica_id":
		return m.ReplicaID, true
	case "rank0_env":
		return m.Rank0Env, true
	}
	return "", false
}

// Substitute replaces macros in text by the "safe" rules of Python's string.Template: $name
// and ${name} are replaced, $$ becomes $, and unknown or malformed macros stay unchanged.
func (m Macros) Substitute(text string) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	var b strings.Builder
	m.pieces(text, func(s string) { b.WriteString(s) })
	return b.String()
}

// expandedLen returns the length of the result of Substitute.
func (m Macros) expandedLen(text string) (n int) {
	m.pieces(text, func(s string) { n += len(s) })
	return n
}

// pieces yields the pieces of text with expanded macros.
func (m Macros) pieces(text string, yield func(string)) {
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			yield(text)
			return
		}
		yield(text[:i])
		value, length := m.expand(text[i:])
		yield(value)
		text = text[i+length:]
	}
}

// expand returns the value of the macro at the start of text (which starts with '$') and the
// number of bytes that the macro occupies.
func (m Macros) expand(text string) (value string, length int) {
	if strings.HasPrefix(text, "$$") {
		return "$", 2
	}
	name := identifier(text[1:])
	length = 1 + len(name)
	if strings.HasPrefix(text, "${") {
		name = identifier(text[2:])
		length = len(name) + 3
		if len(text) < length || text[length-1] != '}' {
			return "$", 1
		}
	}
	if v, ok := m.lookup(name); ok {
		return v, length
	}
	return text[:length], length
}

// identifier returns the longest ASCII identifier at the start of s.
func identifier(s string) string {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20 // letters to lower case; '_' becomes 0x7f, checked separately
		letter := c >= 'a' && c <= 'z' || s[i] == '_'
		if !letter && (i == 0 || s[i] < '0' || s[i] > '9') {
			return s[:i]
		}
	}
	return s
}

// Apply returns a deep copy of the role with macros replaced in its arguments,
// env values and metadata (maps, and lists of strings or maps).
func (m Macros) Apply(r Role) Role {
	r = r.clone()
	for i := range r.Args {
		r.Args[i] = m.Substitute(r.Args[i])
	}
	for i := range r.Env {
		r.Env[i].Value = m.Substitute(r.Env[i].Value)
	}
	r.Metadata = m.applyMap(r.Metadata)
	return r
}

func (m Macros) applyMap(in map[string]any) map[string]any {
	for k, v := range in {
		in[k] = m.applyValue(v)
	}
	return in
}

func (m Macros) applyValue(v any) any {
	switch v := v.(type) {
	case string:
		return m.Substitute(v)
	case map[string]any:
		return m.applyMap(v)
	case []any:
		return m.applyList(v)
	case Tuple:
		return Tuple(m.applyList(v))
	}
	return v
}

// applyList skips a list directly within a list, as TorchX does.
func (m Macros) applyList(l []any) []any {
	for i, v := range l {
		switch v.(type) {
		case []any, Tuple:
		default:
			l[i] = m.applyValue(v)
		}
	}
	return l
}
