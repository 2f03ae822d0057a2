package component

import (
	"strings"
	"testing"
)

const helpText = `Usage: torchx run c.star:f --file str [options] [--] [ARGS ...]

A long description that has to be wrapped since its only line is longer than the
terminal is wide.

    kept   as it is

Arguments:
  ARGS ...                what to run

Required options:
  --file str              (required)

Options:
  --image str             the image to use, told in so many words that they do
                          not fit on one line (default: ghcr.io/x)
  -j str                  (default: none)
  --env K=V,...           A=1,B=2 (default: none)
  --a_name_that_is_far_too_long int
                          said below (default: 1)
  --verbose [bool]        be loud (default: false)
  --empty str             (default: "")
  --help                  show this help
`

func TestHelp(t *testing.T) {
	t.Parallel()
	c, _, err := define(t, `
def f(file, image = "ghcr.io/x", *args, j = None, env = None, a_name_that_is_far_too_long = 1, verbose = False, empty = ""):
    """A long description that has to be wrapped since its only line is longer than the terminal is wide.

        kept   as it is

    Args:
        args: what to run
        image: the image to use, told in so many words that they do not fit on one line
        env (dict[str, str]): A=1,B=2
        a_name_that_is_far_too_long: said below
        verbose: be loud
    """
`)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Help(false, 0, nil); got != helpText {
		t.Errorf("got\n%s\nwant\n%s", got, helpText)
	}
	if colored := c.Help(true, 80, nil); !strings.Contains(colored, "\x1b[1mUsage:\x1b[0m") {
		t.Errorf("got %q, want a bold heading", colored)
	}
	for line := range strings.SplitSeq(c.Help(false, 60, nil), "\n") {
		if len(line) > 60 {
			t.Errorf("got %d columns, want at most 60: %q", len(line), line)
		}
	}
}

// TestHelpWithoutDocstring: TorchX shows neither defaults nor what is required then.
func TestHelpWithoutDocstring(t *testing.T) {
	t.Parallel()
	c, _, err := define(t, "def f(a, num = 3): pass\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `Usage: torchx run c.star:f -a str [options]

Required options:
  -a str                  (required)

Options:
  --num int               (default: 3)
  --help                  show this help
`
	if got := c.Help(false, 80, nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
