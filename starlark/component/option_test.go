package component

import (
	"errors"
	"strings"
	"testing"
)

// TestOption: names find parameters as options do, with the same errors.
func TestOption(t *testing.T) {
	t.Parallel()
	c := &Component{Ref: "utils.sh", Params: shParams()}
	for name, want := range map[string]string{"msg": "msg", "num-replicas": "num_replicas", "j": "j", "h": "h"} {
		if p, err := c.Option(name); err != nil || p.Name != want {
			t.Errorf("%s: got %v, %v, want %s", name, p, err, want)
		}
	}
	for name, want := range map[string]string{
		"mgs": "Did you mean --msg?", "help": `unknown option "--help"`, "args": "pass the values of args at the end", "": "unknown option",
	} {
		var usage *UsageError
		if _, err := c.Option(name); !errors.As(err, &usage) || !strings.Contains(usage.Text, want) {
			t.Errorf("%s: got %v, want a usage error with %q", name, err, want)
		}
	}
}
