package backend

import "strings"

// CamelToSnake turns validateSpec into validate_spec by TorchX's rule: a word begins with a capital
// behind a small letter or digit, so HTTPServer is httpserver and reservedMemMB reserved_mem_mb.
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

// names reports whether a key that was given is the option's, or its spelling in camelCase.
// Letter case counts otherwise: LOG_DIR is not log_dir.
func names(given, option string) bool {
	isCamel := !strings.Contains(given, "_") && strings.ToUpper(given) != given
	return given == option || isCamel && CamelToSnake(given) == option
}

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// SplitCSV cuts a list such as that of `status --roles a,b` at its commas and
// trims the parts, empty ones included; a blank text is an empty list.
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
