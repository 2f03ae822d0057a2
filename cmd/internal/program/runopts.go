package program

import (
	"fmt"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/suggest"
)

// UnknownBackend says which backends there are and which was probably meant.
func UnknownBackend(reg *backend.Registry, name string) string {
	known := reg.Names()
	among := append([]string{}, known...)
	for _, n := range known {
		among = append(among, reg.AliasesOf(n)...)
	}
	return fmt.Sprintf("unknown backend %s: known ones are %s.%s",
		ui.QuoteWord(name), strings.Join(known, ", "), suggest.Hint(name, among))
}
