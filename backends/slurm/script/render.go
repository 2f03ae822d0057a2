package script

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"torchx/backends/slurm/folder"
	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

//go:embed launcher.sh
var launcher string

// replicaMark stands for the replica's number, which is known on the node only, and portMark for
// a port of the role, until the text is quoted.
const (
	replicaMark = "\x01torchx replica\x01"
	portMark    = "\x01torchx port "
)

// render returns the batch script.
func render(in Input, o Options, req *Request) (string, error) {
	var b strings.Builder
	b.WriteString("#!/bin/bash\n")
	for i := range in.App.Roles {
		if i > 0 {
			b.WriteString("#SBATCH hetjob\n")
		}
		for _, d := range directives(in, o, req, i) {
			b.WriteString(d + "\n")
		}
	}
	limit, err := timeoutOf(in.App)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\n# %s, planned by torchx. Run it with: sbatch FILE\n", in.Handle)
	fmt.Fprintf(&b, "folder=%s\nwriter=%s\nroles=%d\ntimeout=%d\ngrace=%d\nfail_fast=%s\nmax_requeues=%d\n",
		quote(req.Folder), quote(in.Writer), len(in.App.Roles), limit, o.grace, flag(o.failFast), o.requeues)
	b.WriteString("export PYTHONUNBUFFERED=1 SLURM_UNBUFFEREDIO=1\n")
	if o.setup != "" { // a syntax error in it stays in eval; scripts of conda use unset variables
		fmt.Fprintf(&b, "\nsetup() {\n\tset +u\n\teval %s\n}\n", quote(o.setup))
	}
	ports := portsOf(&in.App.Roles[0])
	for i := range in.App.Roles {
		if err := addRole(&b, in, o, req, i, ports); err != nil {
			return "", err
		}
	}
	b.WriteString("\nchoose_ports() {\n\t:\n")
	for _, p := range ports {
		fmt.Fprintf(&b, "\tfree_port %d\n\texport %s=$port\n", p.number, p.variable)
	}
	b.WriteString("}\n")
	return b.String() + launcher, nil
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "''"
}

// directives returns the #SBATCH lines of a role's component.
func directives(in Input, o Options, req *Request, index int) []string {
	role := &in.App.Roles[index]
	list := []option{{"job-name", in.ID}}
	if index == 0 {
		list = append(list, option{"output", "/dev/null"}, option{"chdir", req.Workdir}) // the script writes slurm.out itself
		list = append(list, o.mail...)
	}
	if !o.hasComment {
		list = append(list, option{"comment", folder.Folder(req.Folder).Comment()})
	}
	list = append(list, o.sbatch...)
	requeue := "no-requeue"
	if o.requeue {
		requeue = "requeue"
	}
	list = append(list, option{requeue, ""})
	if o.exclusive {
		list = append(list, option{"exclusive", ""})
	}
	if required(role) < role.NumReplicas {
		list = append(list, option{"no-kill", ""})
	}
	perNode := min(o.perNode, role.NumReplicas)
	nodes := (role.NumReplicas + perNode - 1) / perNode
	list = append(list, option{"nodes", strconv.Itoa(nodes)}, option{"ntasks", strconv.Itoa(role.NumReplicas)}, option{"ntasks-per-node", strconv.Itoa(perNode)})
	r := role.Resource
	if n := cpus(r); n > 0 {
		list = append(list, option{"cpus-per-task", strconv.Itoa(n)})
	}
	if r.MemMB > 0 && (o.memory == nil || *o.memory) {
		list = append(list, option{"mem", strconv.Itoa(r.MemMB*perNode) + "M"})
	}
	if r.GPU > 0 {
		if o.gres == gresPerTask {
			list = append(list, option{gresPerTask, strconv.Itoa(r.GPU)})
		} else {
			list = append(list, option{gresPerNode, strconv.Itoa(r.GPU * perNode)})
		}
	}
	lines := make([]string, 0, len(list)+len(o.extra))
	for _, l := range list {
		lines = append(lines, l.directive())
	}
	for _, e := range o.extra {
		name, value, hasValue := strings.Cut(e, "=")
		if hasValue {
			e = name + "=" + quoteDirective(value)
		}
		lines = append(lines, "#SBATCH "+e)
	}
	return lines
}

// cpus returns the CPUs of a replica, which Slurm counts in whole ones; 0: not set.
func cpus(r spec.Resource) int {
	if r.CPU <= 0 {
		return 0
	}
	return int(math.Ceil(r.CPU))
}

// port is a port that the job chooses on its first node.
type port struct {
	variable string
	number   int
}

// addRole writes the constants of a role and the function that becomes its replicas.
func addRole(b *strings.Builder, in Input, o Options, req *Request, i int, ports []port) error {
	role := in.App.Roles[i]
	order, err := role.Order()
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\nrole_dir[%[1]d]=%[2]s role_replicas[%[1]d]=%[3]d role_required[%[1]d]=%[4]d role_policy[%[1]d]=%[5]s role_retries[%[1]d]=%[6]d\n",
		i, quote(safefile.Escape(role.Name)), role.NumReplicas, required(&role), role.RetryPolicy, role.MaxRetries)
	fmt.Fprintf(b, "role_name[%[1]d]=%[5]s role_sidecar[%[1]d]=%[2]s role_timeout[%[1]d]=%[3]d role_retry_timeout[%[1]d]=%[4]s\n",
		i, flag(order.Sidecar), seconds(order.Timeout), flag(order.RetryOnTimeout), quote(role.Name))
	b.WriteString("srun_" + strconv.Itoa(i) + "() { srun")
	for _, s := range srunOptions(in, o, req, i) {
		b.WriteString(" " + quoteOption(s))
	}
	b.WriteString(" \"$@\"; }\n")
	macros := spec.Macros{ImgRoot: role.Image, AppID: in.ID, ReplicaID: replicaMark, Rank0Env: spec.Rank0HostVariable}
	r := macros.Apply(role)
	args := usePorts(r.Args, ports)
	for _, text := range append([]string{role.Entrypoint}, args...) {
		if strings.Contains(text, "\x00") {
			return fmt.Errorf("role %s: argument %q has a NUL byte", role.Name, text)
		}
	}
	fmt.Fprintf(b, "role_%d() { # becomes replica $1\n", i)
	if o.setup != "" {
		b.WriteString("\tsetup || exit\n")
	}
	var other []string // variables that bash cannot set
	for _, e := range r.Env {
		switch {
		case e.Key == "" || strings.ContainsAny(e.Key, "=\x00") ||
			strings.Contains(e.Value, "\x00"):
			return fmt.Errorf("role %s: variable %q of env cannot be set: it is empty, or has '=' or a NUL byte", role.Name, e.Key)
		case identifier().MatchString(e.Key) && !ofBash().MatchString(e.Key):
			fmt.Fprintf(b, "\texport %s=%s\n", e.Key, word(e.Value))
		default:
			other = append(other, word(e.Key+"="+e.Value))
		}
	}
	words := append([]string{word(role.Entrypoint)}, make([]string, len(args))...)
	for n, a := range args {
		words[n+1] = word(a)
	}
	if len(other) > 0 {
		words = append(append([]string{"/usr/bin/env", "--"}, other...), words...) // PATH is the role's
	}
	fmt.Fprintf(b, "\texec -- %s\n}\n", strings.Join(words, " "))
	return nil
}

var (
	identifier = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// ofBash matches the variables that bash does not let others set, changes itself, or obeys.
	ofBash = pattern.Lazy(`^(_|BASH.*|COMP_.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|OLDPWD|OPT.*|PIPESTATUS|POSIXLY_CORRECT|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$`)
)

// required returns how many replicas of a role must not fail.
func required(role *spec.Role) int {
	if role.MinReplicas == nil {
		return role.NumReplicas
	}
	return min(max(*role.MinReplicas, 0), role.NumReplicas)
}

// srunOptions returns the options of a role's srun.
func srunOptions(in Input, o Options, req *Request, i int) []string {
	role := &in.App.Roles[i]
	var list []string
	if len(in.App.Roles) > 1 {
		list = append(list, fmt.Sprintf("--het-group=%d", i))
	}
	perNode := min(o.perNode, role.NumReplicas)
	list = append(list, fmt.Sprintf("--nodes=%d", (role.NumReplicas+perNode-1)/perNode),
		fmt.Sprintf("--ntasks=%d", role.NumReplicas), fmt.Sprintf("--ntasks-per-node=%d", perNode))
	if n := cpus(role.Resource); n > 0 {
		list = append(list, fmt.Sprintf("--cpus-per-task=%d", n)) // srun of 22.05 and later does not take it from sbatch
	}
	// A task exits with 0 once its end is recorded; with another code the launcher does not know
	// it, and the others of the role must not wait forever for it.
	if required(role) < role.NumReplicas {
		list = append(list, "--no-kill", "--kill-on-bad-exit=0")
	} else {
		list = append(list, "--kill-on-bad-exit=1")
	}
	return append(list, containerOptions(o, req, role)...)
}

func containerOptions(o Options, req *Request, role *spec.Role) []string {
	switch o.container {
	case containerOCI:
		return []string{"--container=" + role.Image}
	case containerPyxis:
		mounts := []string{req.Folder + ":" + req.Folder, req.Workdir + ":" + req.Workdir}
		for _, m := range role.Mounts {
			text := m.Src + ":" + m.Dst
			if m.ReadOnly {
				text += ":ro"
			}
			if m.Type == spec.MountBind {
				mounts = append(mounts, text)
			}
		}
		return []string{"--container-image=" + role.Image, "--container-mounts=" + strings.Join(mounts, ","), "--no-container-entrypoint"}
	}
	return nil
}

// word returns text as one word of bash, in which marks become variables.
func word(text string) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '\x01')
		if i < 0 {
			break
		}
		rest, isReplica := strings.CutPrefix(text[i:], replicaMark)
		name, after, isPort := strings.Cut(strings.TrimPrefix(text[i:], portMark), "\x01")
		isPort = isPort && strings.HasPrefix(text[i:], portMark)
		switch {
		case isReplica:
			name, after = "1", rest
		case !isPort:
			b.WriteString(quote(text[:i+1]))
			text = text[i+1:]
			continue
		}
		if i > 0 {
			b.WriteString(quote(text[:i]))
		}
		b.WriteString(`"${` + name + `}"`)
		if text = after; text == "" {
			return b.String()
		}
	}
	return b.String() + quote(text)
}

// portsOf returns the ports of the first role, which the job chooses on its first node.
func portsOf(role *spec.Role) (ports []port) {
	for _, e := range role.PortMap {
		if e.Value > 0 && e.Value <= math.MaxUint16 {
			ports = append(ports, port{portVariable(e.Key), e.Value})
		}
	}
	return ports
}

// usePorts replaces the ports of the first node by those that the job chooses: two jobs may run
// on one node.
func usePorts(args []string, ports []port) []string {
	args = append([]string{}, args...)
	for _, p := range ports {
		endpoint := regexp.MustCompile(`(` + spec.Rank0HostVariable + `(?::?[=-][^}\s]*)?\}?:)` + strconv.Itoa(p.number) + `\b`)
		for i, a := range args {
			args[i] = endpoint.ReplaceAllString(a, "${1}"+portMark+p.variable+"\x01")
		}
	}
	return args
}

// portVariable returns the variable of a port, such as TORCHX_PORT_C10D.
func portVariable(name string) string {
	return "TORCHX_PORT_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, name)
}
