package goldens

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// difference is a place where a dry run differs on purpose from TorchX's.
type difference struct {
	in     string // the case, or every for all of them
	at     string // the place: a regular expression for its whole path
	theirs string // what TorchX has there: a part of a text, or a whole other value in JSON
	ours   string
	why    string
}

// every marks a difference that any case may show.
const everyCase = "*"

// gone ends the text of a member that we do not have.
const removed = "<gone>"

// Paths of the arguments of a role: as planned, and for each of its replicas.
const (
	appArgs  = `app\.roles\[0]\.args`
	procArgs = `request\.role_params\.[^.]+\[\d]\.args`
)

const (
	portReason  = "each local run has a rendezvous port of its own, so that two never collide; the given one is the default"
	boothReason = "the program needs no Python package of TorchX"
	boolReason  = "[BUG] fact 41: only `true` was true, all else was false and nobody was told"
)

// differences is the whole list: any other difference fails the tests, and so
// does an entry for one case that has become wrong.
var differences = []difference{
	{everyCase, `.*\.env\.TORCHX_JOB_ID`, `local_cwd://`, `local://`, "canonical backend names are recorded; the alias finds the app, too"},
	{everyCase, `app\.roles\[\d]\.image`, `ghcr.io/pytorch/torchx:0.8.0dev0`, torchxImage, "the default image is a tag that exists"},
	{everyCase, `cfg`, `}`, `,"image_type":"cwd","grace_period":10,"fail_fast":true,"log_max_size":null,"limits":"none","cgroup_parent":null}`, "options that TorchX does not have"},
	{everyCase, `request\.role_params\..+\[\d+]\.combined`, `/combined.log`, removed, "no such file is written"},

	{"ddp_elastic", appArgs + `\[1]`, `:=localhost}:30000`, `:=localhost}:$${TORCHX_PORT_C10D:=30000}`, portReason},
	{"ddp_elastic", procArgs + `\[2]`, `:=localhost}:30000`, `:=localhost}:${TORCHX_PORT_C10D:=30000}`, portReason},
	{"spmd_infer_gpu", appArgs + `\[1]`, `:=localhost}:29500`, `:=localhost}:$${TORCHX_PORT_C10D:=29500}`, portReason},
	{"spmd_infer_gpu", procArgs + `\[2]`, `:=localhost}:29500`, `:=localhost}:${TORCHX_PORT_C10D:=29500}`, portReason},

	{"booth", `app\.roles\[0]\.entrypoint`, `python`, `sh`, boothReason},
	{
		"booth", appArgs,
		`["-m","torchx.apps.utils.booth_main","--x1","1.0","--x2","2.5","--trial_idx","3","--tracker_base","/tmp/torchx-util-booth"]`,
		`["-c","` + anyText + `","booth","1.0","2.5","3","/tmp/torchx-util-booth"]`, boothReason,
	},
	{
		"booth", procArgs,
		`["python","-m","torchx.apps.utils.booth_main","--x1","1.0","--x2","2.5","--trial_idx","3","--tracker_base","/tmp/torchx-util-booth"]`,
		`["sh","-c","` + anyText + `","booth","1.0","2.5","3","/tmp/torchx-util-booth"]`, boothReason,
	},

	{"custom_types_ok", appArgs + `\[9]`, `'7'`, `7`, "[BUG] fact 41: Optional[int] stayed a string"},
	{"custom_types_ok", procArgs + `\[10]`, `'7'`, `7`, "[BUG] fact 41: Optional[int] stayed a string"},
	{"custom_types_dashdash", appArgs + `\[2]`, `False`, `True`, boolReason},
	{"custom_types_dashdash", procArgs + `\[3]`, `False`, `True`, boolReason},

	{"sh_all_options", `exit_code`, `1`, `2`, "an argument of a component that cannot be read is a usage error"},
}

// rewriter turns a case's recording into what is expected of us.
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

// apply rewrites the value at path, and all below it.
func (r *rewriter) apply(t *testing.T, path string, v any) any {
	t.Helper()
	for i, d := range r.rows {
		if !regexp.MustCompile(`^(?:` + d.at + `)$`).MatchString(path) {
			continue
		}
		if changed, ok := d.rewrite(t, v); ok {
			r.hits[i]++
			v = changed
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

// rewrite returns what we have in the place of v, if v is what the entry is about.
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

// checkUsed fails for entries of this case that no longer say what is true.
func (r *rewriter) checkUsed(t *testing.T) {
	t.Helper()
	for i, d := range r.rows {
		if d.in != everyCase && r.hits[i] == 0 {
			t.Errorf("the recording has no %q at %s: the entry %q is wrong", d.theirs, d.at, d.why)
		}
	}
}
