package goldens

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// difference is an intended difference of a dry run from that of TorchX.
type difference struct {
	in     string // the case, or everyCase
	at     string // regular expression of its whole path
	theirs string // what TorchX has: a part of a string, or another value in JSON
	ours   string
	row    string // subject of its row in docs/reference/torchx-differences.md
}

// everyCase marks a difference that may occur in any case.
const everyCase = "*"

// removed is the end of the text of a member that torchx does not have.
const removed = "<gone>"

// Paths of the arguments of a role: as planned, and for each of its replicas.
const (
	appArgs  = `app\.roles\[0]\.args`
	procArgs = `request\.role_params\.[^.]+\[\d]\.args`
)

const (
	jobIDRow    = "handles, `TORCHX_JOB_ID`"
	imageRow    = "default image"
	optionsRow  = "options of a dry run"
	portRow     = "rendezvous port of `dist.ddp` locally"
	boothRow    = "`utils.booth`"
	boolRow     = "`bool` arguments"
	optionalRow = "`Optional[int]`"
	argumentRow = "an argument that cannot be read, such as `--env A=1,B=x=y`"
)

// differences are all intended differences. Any other one fails the tests, and so does an
// entry of a case that no longer applies.
var differences = []difference{
	{everyCase, `.*\.env\.TORCHX_JOB_ID`, `local_cwd://`, `local://`, jobIDRow},
	{everyCase, `app\.roles\[\d]\.image`, `ghcr.io/pytorch/torchx:0.8.0dev0`, torchxImage, imageRow},
	{everyCase, `cfg`, `}`, `,"image_type":"cwd","grace_period":10,"fail_fast":true,"log_max_size":null,"limits":"none","cgroup_parent":null,"output_dir":null}`, optionsRow},
	{everyCase, `request\.role_params\..+\[\d+]\.combined`, `/combined.log`, removed, "`log_dir`"},

	{"ddp_elastic", appArgs + `\[1]`, `:=localhost}:30000`, `:=localhost}:$${TORCHX_PORT_C10D:=30000}`, portRow},
	{"ddp_elastic", procArgs + `\[2]`, `:=localhost}:30000`, `:=localhost}:${TORCHX_PORT_C10D:=30000}`, portRow},
	{"spmd_infer_gpu", appArgs + `\[1]`, `:=localhost}:29500`, `:=localhost}:$${TORCHX_PORT_C10D:=29500}`, portRow},
	{"spmd_infer_gpu", procArgs + `\[2]`, `:=localhost}:29500`, `:=localhost}:${TORCHX_PORT_C10D:=29500}`, portRow},

	{"booth", `app\.roles\[0]\.entrypoint`, `python`, `sh`, boothRow},
	{
		"booth", appArgs,
		`["-m","torchx.apps.utils.booth_main","--x1","1.0","--x2","2.5","--trial_idx","3","--tracker_base","/tmp/torchx-util-booth"]`,
		`["-c","` + anyText + `","booth","1.0","2.5","3","/tmp/torchx-util-booth"]`, boothRow,
	},
	{
		"booth", procArgs,
		`["python","-m","torchx.apps.utils.booth_main","--x1","1.0","--x2","2.5","--trial_idx","3","--tracker_base","/tmp/torchx-util-booth"]`,
		`["sh","-c","` + anyText + `","booth","1.0","2.5","3","/tmp/torchx-util-booth"]`, boothRow,
	},

	{"custom_types_ok", appArgs + `\[9]`, `'7'`, `7`, optionalRow},
	{"custom_types_ok", procArgs + `\[10]`, `'7'`, `7`, optionalRow},
	{"custom_types_dashdash", appArgs + `\[2]`, `False`, `True`, boolRow},
	{"custom_types_dashdash", procArgs + `\[3]`, `False`, `True`, boolRow},

	{"sh_all_options", `exit_code`, `1`, `2`, argumentRow},
}

// rewriter turns the recording of a case into the expected outcome.
type rewriter struct {
	rows []difference
	hits []int
}

func newRewriter(name string, differences []difference) *rewriter {
	r := &rewriter{}
	for _, d := range differences {
		if d.in == name || d.in == everyCase {
			r.rows = append(r.rows, d)
		}
	}
	r.hits = make([]int, len(r.rows))
	return r
}

// apply rewrites the value at path and everything below it.
func (r *rewriter) apply(t *testing.T, path string, v any) any {
	t.Helper()
	for i, d := range r.rows {
		if !regexp.MustCompile(`^(?:` + d.at + `)$`).MatchString(path) {
			continue
		}
		if changed, ok := d.rewrite(t, v); ok {
			r.hits[i]++
			v = changed
			t.Logf("%s: %s", d.row, path)
		}
	}
	switch v := v.(type) {
	case object:
		out := object{}
		for _, m := range v {
			value := r.apply(t, join(path, m.key), m.value)
			if text, ok := value.(string); ok && strings.HasSuffix(text, removed) {
				continue
			}
			out = append(out, member{m.key, value})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.apply(t, fmt.Sprintf("%s[%d]", path, i), e)
		}
		return out
	}
	return v
}

// rewrite returns the expected value instead of v. It reports whether the entry applies to v.
func (d difference) rewrite(t *testing.T, v any) (any, bool) {
	t.Helper()
	if s, ok := v.(string); ok {
		return strings.Replace(s, d.theirs, d.ours, 1), strings.Contains(s, d.theirs)
	}
	s := text(v)
	if _, ok := v.(object); ok && strings.HasSuffix(s, d.theirs) {
		return decode(t, strings.TrimSuffix(s, d.theirs)+d.ours), true
	}
	if s == d.theirs {
		return decode(t, d.ours), true
	}
	return nil, false
}

// checkUsed fails for entries of this case that do not apply.
func (r *rewriter) checkUsed(t *testing.T) {
	t.Helper()
	for i, d := range r.rows {
		if d.in != everyCase && r.hits[i] == 0 {
			t.Errorf("the recording has no %q at %s: remove the entry %q", d.theirs, d.at, d.row)
		}
	}
}
