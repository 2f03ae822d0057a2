package program

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/runtime/config"
	"torchx/runtime/secrets"
)

// TestInDir checks that a copy reads the configuration of its folder, hides that
// folder's secrets and leaves the original as it was.
func TestInDir(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(there, config.FileName), []byte("[torchx]\nimage = other\nsecrets = *_PIN\n"), 0o600))
	var errs strings.Builder
	env := Environment{Vars: []string{"HOME=" + here, "PWD=" + here}, Dir: here}
	f := NewFactory(ui.Streams{Err: &errs, Out: io.Discard}, env, Definition{}, nil)
	other := f.InDir(there)
	for _, c := range []struct {
		f                *Factory
		dir, image, line string
	}{{f, here, DefaultImage, "MY_PIN=1234"}, {other, there, "other", "MY_PIN=" + secrets.Hidden}} {
		image, err := c.f.Image()
		if err != nil || image != c.image {
			t.Errorf("in %s: got image %q (%v), want %q", c.dir, image, err, c.image)
		}
		if got := c.f.Env.Get("PWD"); got != c.dir || c.f.Env.Dir != c.dir {
			t.Errorf("got folder %s and $PWD %s, want %s", c.f.Env.Dir, got, c.dir)
		}
		if got := c.f.Masked("MY_PIN=1234"); got != c.line {
			t.Errorf("in %s: got %q, want %q", c.dir, got, c.line)
		}
	}
	f.WarnOnce("the same")
	other.WarnOnce("the same")
	if got := strings.Count(errs.String(), "the same"); got != 1 {
		t.Errorf("got %d warnings, want 1", got)
	}
	muted := f.With(func(c *Factory) { c.Err = io.Discard })
	muted.Warn("not shown")
	f.Warn("shown")
	if got := errs.String(); strings.Contains(got, "not shown") || !strings.HasSuffix(got, "shown\n") {
		t.Errorf("got %q, want only the warning of the original", got)
	}
}
