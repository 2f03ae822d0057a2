package compare

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/starlark/specmodule"
)

// exitTrouble is the exit code of `diff` if nothing could be compared, as for diff(1);
// program.ExitError means that there are differences.
const exitTrouble = 2

// diffOptions are the flags of `diff`.
type diffOptions struct {
	plan    planning.Options
	json    bool
	context int
	only    string
}

// planParts are the parts of a plan that are compared, in their order of output.
var planParts = []string{"app", "cfg", "request", provenancePart}

// provenancePart is where a past app comes from. It is compared if both sides are past apps.
const provenancePart = "provenance"

// NewDiff returns the command `diff`.
func NewDiff(f *program.Factory) *cli.Command {
	o := diffOptions{plan: planning.Options{Command: "diff"}}
	env := cli.StringSlice{}
	return &cli.Command{
		Name:  "diff",
		Usage: "compare apps or plans",
		UsageText: "[options] A [B]\n" +
			"torchx diff -\n" +
			"torchx diff - -- '--msg bye'\n" +
			"torchx diff 'utils.echo --msg hi' 'utils.echo --msg bye'\n" +
			"torchx diff 'utils.sh date' -- '--cpu 2'\n" +
			"torchx diff -b local,docker 'utils.echo --msg hi'",
		Description: "Show how two apps, their options and their plans differ. A and B are components, quoted with their arguments, or " +
			"handles of past apps. B may be arguments only: A's component with these arguments changed. A past app alone is " +
			"compared with what its component gives now, as `torchx rerun` would run it; a component alone is compared on two " +
			"backends, -b X,Y. Of two past apps, the git commit, the uncommitted changes and the versions are compared, too. With A and B, -b X,Y plans A for X and B for Y. Both plans get the same app ID, nothing is " +
			"submitted and no backend is contacted. The exit code is 0 without differences, 1 with differences, 2 if the " +
			"comparison failed. " +
			program.SecretsHelp,
		Flags: []cli.Flag{
			program.BackendFlag(&o.plan.Backend, "plan for `BACKEND`, or for two, X,Y"),
			program.CfgFlag(&o.plan.Cfg),
			&cli.StringSliceFlag{Name: "env", Usage: "set a variable in every role, `K=V` (repeatable)", Destination: &env},
			&cli.StringFlag{Name: "workspace", Usage: "local project `FOLDER`, as for torchx run", Destination: &o.plan.Workspace},
			&cli.IntFlag{Name: "unified", Aliases: []string{"U"}, Usage: "show `N` lines around each difference", Value: 3, Destination: &o.context},
			&cli.StringFlag{Name: "only", Usage: "compare only `PART`: app, cfg, request or provenance", Destination: &o.only},
			program.JSONFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			o.plan.Env, o.plan.HasWorkspace = env.Value(), c.IsSet("workspace")
			return withTrouble(c.Context, f, diff(c.Context, f, c.Args().Slice(), o))
		},
	}
}

// withTrouble replaces the exit code of errors by exitTrouble; a difference is not an error.
func withTrouble(ctx context.Context, f *program.Factory, err error) error {
	var quiet program.QuietError
	if err == nil || errors.As(err, &quiet) || program.Interrupted(ctx, err) ||
		program.IsBrokenPipe(err) {
		return err
	}
	f.Explain(err)
	return program.QuietError(exitTrouble)
}

func diff(ctx context.Context, f *program.Factory, words []string, o diffOptions) error {
	if o.only != "" && !slices.Contains(planParts, o.only) {
		return program.Usagef("diff", "--only is one of %s, not %s", strings.Join(planParts, ", "),
			ui.QuoteWord(o.only))
	}
	if o.context < 0 {
		return program.Usagef("diff", "-U must not be negative")
	}
	a, b, err := o.sides(words)
	if err != nil {
		return err
	}
	planner := f.With(func(f *program.Factory) {
		f.Random = func() uint64 { return sharedRandom } // the same app id for both
	})
	for _, s := range []*side{a, b} {
		if err := planSide(ctx, planner, s, o.plan); err != nil {
			return err
		}
		if err := planning.HideSecretEnv(f, s.plan.Plan.App); err != nil {
			return err
		}
	}
	c, err := comparePlans(f, a, b, o.only)
	if err != nil {
		return err
	}
	if o.json {
		err = f.PrintMaskedJSON(c)
	} else {
		err = printComparison(f, c, o.context)
	}
	if err == nil && !c.Equal {
		err = program.QuietError(program.ExitError)
	}
	return err
}

// sharedRandom is the random part of the app id of both sides.
const sharedRandom = 0x123456789ABCDEF0

// side is A or B of a comparison.
type side struct {
	Label     string        `json:"label"`
	Backend   string        `json:"backend"`
	Component ui.NullString `json:"component"`
	Args      []string      `json:"args"`

	handle     string              // of a past app
	now        bool                // plan its component as it is today
	provenance *program.Provenance // of a past app as recorded; nil: not known
	backend    string              // from -b
	base       []string
	plan       *runner.Planned
	parts      map[string]any             // by planParts
	ordered    map[string]json.RawMessage // the same with keys in their order
}

// sides parses the arguments and -b.
func (o *diffOptions) sides(words []string) (a, b *side, err error) {
	if len(words) == 0 {
		return nil, nil, program.Usagef("diff",
			"missing A: a component, with its arguments in quotes, or the handle of an app")
	}
	if len(words) > 2 {
		return nil, nil, program.Usagef("diff", "unexpected argument %s: put a component and its arguments into quotes, 'COMPONENT --x 1'", ui.QuoteWord(words[2]))
	}
	names := backend.SplitCSV(o.plan.Backend)
	if len(names) > 2 {
		return nil, nil, program.Usagef("diff", "-b takes at most two backends")
	}
	if a, err = readSide(words[0]); err != nil {
		return nil, nil, err
	}
	switch {
	case len(words) == 2:
		b, err = a.other(words[1])
	case len(names) == 2:
		copied := *a
		b = &copied
	case a.handle != "":
		b = &side{handle: a.handle, now: true}
	default:
		err = program.Usagef("diff", "missing B: another component, arguments for %s, or two backends, -b X,Y", ui.QuoteWord(string(a.Component)))
	}
	if err != nil {
		return nil, nil, err
	}
	if len(names) > 0 {
		a.backend, b.backend = names[0], names[len(names)-1]
	}
	return a, b, nil
}

// readSide parses A: a handle, or a component and its arguments.
func readSide(text string) (*side, error) {
	words, err := specmodule.SplitWords(text)
	if err != nil {
		return nil, program.Usagef("diff", "%s: %v", ui.QuoteWord(text), err)
	}
	if len(words) == 0 {
		return nil, program.Usagef("diff", "%s is neither a component nor a handle", ui.QuoteWord(text))
	}
	if isHandle(words[0]) {
		return &side{handle: words[0], now: len(words) > 1, Args: words[1:]}, nil
	}
	return &side{Component: ui.NullString(words[0]), Args: words[1:]}, nil
}

// other parses B, which may be only arguments for the component or app of A.
func (s *side) other(text string) (*side, error) {
	if !strings.HasPrefix(text, "-") || text == "-" {
		return readSide(text)
	}
	args, err := specmodule.SplitWords(text)
	if err != nil {
		return nil, program.Usagef("diff", "%s: %v", ui.QuoteWord(text), err)
	}
	if s.handle != "" {
		return &side{handle: s.handle, now: true, Args: args, base: s.Args}, nil
	}
	return &side{Component: s.Component, Args: args, base: s.Args}, nil
}

// isHandle reports whether a word is the handle of an app or an ID prefix, not a component.
func isHandle(word string) bool {
	return word == "-" || strings.Contains(word, "://") || !strings.ContainsAny(word, ".:@")
}
