package script

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"torchx/runtime/backend"
)

// Values of the options gres and container_type.
const (
	gresPerTask = "gpus-per-task"
	gresPerNode = "gpus-per-node"

	containerPyxis = "pyxis"
	containerOCI   = "oci"
)

const (
	defaultGrace    = 10.0 // seconds, as in the other backends
	defaultRequeues = 10
)

// OptionList lists the -cfg keys; the first nine are those of TorchX.
func OptionList() []backend.Option {
	str := func(key string, risk backend.Risk, help string) backend.Option {
		return backend.Option{Key: key, Risk: risk, Type: backend.TypeStr, Help: help}
	}
	return []backend.Option{
		str("account", backend.Elsewhere, "account to charge"),
		str("partition", backend.Harmless, "partition to run in (default: that of the cluster)"),
		str("time", backend.Harmless, "time limit of the job: minutes, MM:SS, HH:MM:SS or D-HH:MM:SS (default: that of the partition)"),
		str("comment", backend.Harmless, "comment of the job (default: the app's folder)"),
		str("constraint", backend.Harmless, "features that the nodes must have, such as a100"),
		str("mail-user", backend.Exports, "who gets mail about the job"),
		str("mail-type", backend.Harmless, "events to send mail about, such as END"),
		{Key: "job_dir", Risk: backend.Writes, Path: true, Type: backend.TypeStr, Help: "folder, shared with the compute nodes, for a copy of the workspace and for the folders of apps (default: no copy, and apps are in TORCHX_HOME)"},
		str("qos", backend.Harmless, "quality of service"),
		{Key: "sbatch", Risk: backend.Executes, Type: backend.TypeList, Help: "further options of sbatch for each role, such as --nice=10;--reservation=r"},
		str("setup", backend.Executes, "lines of bash that each replica runs first, such as module load cuda; their variables are the replica's, and it fails if the last command does"),
		{Key: "exclusive", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: false, Help: "share nodes with no other job"},
		{Key: "requeue", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: true, Help: "start again after preemption or the failure of a node; does not count as a retry"},
		{Key: "max_requeues", Risk: backend.Harmless, Protects: true, Type: backend.TypeInt, Default: defaultRequeues, Help: "how often the job is started again after preemption or the failure of a node"},
		{Key: "gres", Risk: backend.Harmless, Type: backend.TypeStr, Choices: []string{gresPerTask, gresPerNode}, Help: "how GPUs are requested (default: gpus-per-task before Slurm 24.11, gpus-per-node from then on)"},
		str("export", backend.Exports, "variables of this environment for the job: ALL, NONE or a list, as sbatch --export (default: that of sbatch, ALL)"),
		{Key: "nomem", Risk: backend.Harmless, Type: backend.TypeBool, Help: "do not request memory (default: only in partitions with at most 1000 MB of configured memory)"},
		{Key: "replicas_per_node", Risk: backend.Harmless, Type: backend.TypeInt, Default: 1, Help: "replicas of a role that share a node"},
		{Key: "container_type", Risk: backend.Harmless, Type: backend.TypeStr, Choices: []string{containerPyxis, containerOCI}, Help: "run replicas in their image: pyxis (srun --container-image) or oci (srun --container, a bundle folder); default: images are ignored"},
		{Key: "archive", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "keep all logs and the result in TORCHX_HOME: a background process on this machine follows the app to its end"},
		{Key: "grace_period", Risk: backend.Harmless, Protects: true, Type: backend.TypeFloat, Default: defaultGrace, Help: "seconds between SIGTERM and SIGKILL when replicas are stopped"},
		{Key: "fail_fast", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: true, Help: "stop the others when a replica has failed for good; false lets them finish"},
	}
}

// Options are the resolved -cfg values.
type Options struct {
	sbatch     []option // for each component
	mail       []option // for the first component
	extra      []string
	exclusive  bool
	requeue    bool
	requeues   int
	gres       string // "": by the version of Slurm
	memory     *bool  // nil: by the partition
	perNode    int
	container  string
	grace      int
	failFast   bool
	setup      string // lines of bash; "": none
	JobDir     string // absolute; "": none
	Partition  string // "": the default one
	hasComment bool
}

// option is one option of sbatch; without a value it is a flag.
type option struct{ name, value string }

// ReadOptions decodes options. Errors: backend.ErrInvalidOption.
func ReadOptions(cfg backend.Config, cwd string) (o Options, err error) {
	o = Options{requeue: true, requeues: defaultRequeues, perNode: 1, grace: defaultGrace, failFast: true}
	text := func(key string) string { s, _ := cfg[key].(string); return s }
	for _, key := range []string{"account", "partition", "time", "comment", "constraint", "qos", "export", "mail-user", "mail-type"} {
		value := text(key)
		if strings.ContainsAny(value, "\n\r\x00") {
			return o, backend.Errorf(backend.ErrInvalidOption,
				"%s=%q: must be one line", key, value)
		}
		switch {
		case value == "":
		case strings.HasPrefix(key, "mail-"):
			o.mail = append(o.mail, option{key, value})
		default:
			o.sbatch = append(o.sbatch, option{key, value})
		}
	}
	o.hasComment, o.Partition, o.gres, o.container = text("comment") != "", text("partition"), text("gres"), text("container_type")
	if o.setup = text("setup"); strings.Contains(o.setup, "\x00") {
		return o, backend.Errorf(backend.ErrInvalidOption, "setup=%q: has a NUL byte", o.setup)
	}
	if o.JobDir = text("job_dir"); o.JobDir != "" && !filepath.IsAbs(o.JobDir) {
		o.JobDir = filepath.Join(cwd, o.JobDir)
	}
	for key, on := range map[string]*bool{"exclusive": &o.exclusive, "requeue": &o.requeue, "fail_fast": &o.failFast} {
		if v, ok := cfg[key].(bool); ok {
			*on = v
		}
	}
	if v, ok := cfg["nomem"].(bool); ok {
		v = !v
		o.memory = &v
	}
	for key, n := range map[string]*int{"max_requeues": &o.requeues, "replicas_per_node": &o.perNode} {
		if v, ok := cfg[key].(int); ok {
			*n = v
		}
	}
	grace := defaultGrace
	if v, ok := cfg["grace_period"].(float64); ok {
		grace = v
	}
	switch {
	case grace < 0 || grace > 1e6:
		return o, backend.Errorf(backend.ErrInvalidOption,
			"grace_period=%v: must be from 0 to 1000000 seconds", grace)
	case o.requeues < 0:
		return o, backend.Errorf(backend.ErrInvalidOption,
			"max_requeues=%d: must not be negative", o.requeues)
	case o.perNode < 1:
		return o, backend.Errorf(backend.ErrInvalidOption,
			"replicas_per_node=%d: must be positive", o.perNode)
	}
	o.grace = int(grace + 0.999)
	o.extra, _ = cfg["sbatch"].([]string)
	return o, checkExtra(o.extra)
}

// planned lists the options of sbatch that the plan determines.
var planned = []string{"--ntasks", "-n", "--nodes", "-N", "--ntasks-per-node", "--job-name", "-J", "--output", "-o", "--error", "-e", "--array", "-a", "--wrap", "--parsable", "--chdir", "-D", "--test-only"}

func checkExtra(extra []string) error {
	for _, e := range extra {
		name, _, _ := strings.Cut(e, "=")
		switch {
		case !strings.HasPrefix(e, "-") || strings.ContainsAny(e, "\n\r\x00"):
			return backend.Errorf(backend.ErrInvalidOption,
				"sbatch=%q: must be options of sbatch in one line, such as --nice=10", e)
		case name == "hetjob":
			return backend.Errorf(backend.ErrInvalidOption,
				"sbatch=%s: components are planned by torchx", e)
		}
		for _, p := range planned {
			if name == p {
				return backend.Errorf(backend.ErrInvalidOption,
					"sbatch=%s: torchx sets %s itself", e, p)
			}
		}
	}
	return nil
}

// directive returns a line of the script for an option of sbatch.
func (o option) directive() string {
	if o.value == "" {
		return "#SBATCH --" + o.name
	}
	return fmt.Sprintf("#SBATCH --%s=%s", o.name, quoteDirective(o.value))
}

// quote returns text as one word of bash.
func quote(text string) string {
	plain := utf8.ValidString(text)
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= ' ' && text[i] != 0x7f || text[i] == '\n' || text[i] == '\t'
	}
	if plain {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch c := text[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case r == utf8.RuneError && size == 1, c < ' ', c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
			// A hex digit after it would not belong to it: bash reads at most two.
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String() + "'"
}

// quoteDirective returns text as the value of an option in a #SBATCH line, where Slurm removes
// quotes and backslashes and a # begins a comment.
func quoteDirective(text string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:,@+=[]%&|", r)
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// quoteOption returns an option as one word of bash, without quotes if it needs none.
func quoteOption(text string) string {
	if quoteDirective(text) == text && !strings.ContainsAny(text, "[]&|") {
		return text
	}
	return quote(text)
}
