package backend

import "strings"

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
