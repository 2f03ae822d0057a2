package program

import (
	"strings"
)

// ShortPath writes a path as people do: relative to the working folder or to ~,
// whichever is shorter.
func (t *Factory) ShortPath(path string) string {
	short := path
	for _, from := range []struct{ dir, as string }{{t.Env.Dir, ""}, {t.Env.Get("HOME"), "~/"}} {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(from.dir, "/")+"/")
		if ok && from.dir != "" && len(from.as+rest) < len(short) {
			short = from.as + rest
		}
	}
	return short
}
