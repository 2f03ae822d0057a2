package safefile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	maxName  = 100 // longer folder names are shortened; bytes
	keepName = 80  // bytes kept of a shortened name, before '~' and 16 hex digits
)

// Escape turns any name into a folder name; different names give different folder names.
// Bytes outside [A-Za-z0-9._-] and a leading dot become %XX; a name that is too long ends
// in '~' and a hash.
func Escape(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
			c == '_' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	if b.Len() <= maxName {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return b.String()[:keepName] + "~" + hex.EncodeToString(sum[:8])
}
