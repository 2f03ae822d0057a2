package follow

import (
	"testing"
	"time"
)

func TestUnstopped(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		names []string
		grace time.Duration
	}{
		"a/0 has not stopped after 5s: SIGKILL ends it in 25s (KILL kills it now)":                           {[]string{"a/0"}, 30 * time.Second},
		"a/0, b/0 have not stopped after 5s: SIGKILL ends them after the grace period (KILL kills them now)": {[]string{"a/0", "b/0"}, 0},
		"a, b, c, 2 more have not stopped after 5s: SIGKILL ends them in 1s (KILL kills them now)":           {[]string{"a", "b", "c", "d", "e"}, 6 * time.Second},
	} {
		if got := unstopped(tt.names, tt.grace, "KILL"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
