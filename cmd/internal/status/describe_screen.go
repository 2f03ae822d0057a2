package status

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// describePage is what `describe` shows.
type describePage struct {
	screen
	description *history.View
	command     string            // component with its arguments; "" if not known
	app         *spec.App         // secrets hidden
	options     string            // those that differ from the default
	status      *spec.Status      // nil if not known
	sweep       *sweep.Definition // nil: of other apps
}

// text returns the page: the app, and its roles.
func (p *describePage) text() string {
	fields := ui.Fields{}
	fields.Add("App", p.clean(p.description.Handle()))
	fields.Add("Component", p.command)
	if s := p.status; s != nil {
		fields.AddColored("State", p.clean(ui.StateLine(s, p.now)), ui.StateColor(s.State))
	}
	p.addOrigin(&fields, p.description)
	fields.Add("Submitted", p.ago(p.submittedAt()))
	p.addProvenance(&fields)
	fields.Add("Options", p.options)
	if p.sweep != nil {
		fields.Add("Trials", strconv.Itoa(p.app.Roles[0].NumReplicas))
		addRules(&p.screen, &fields, p.sweep)
	}
	fields.Add("After", p.clean(strings.Join(p.description.After(), ", ")))
	fields.Add("Timeout", timeoutText(p.app))
	fields.Add("Metadata", p.clean(jsonText(p.app.OtherMetadata())))
	if p.description.Partial {
		fields.Add("Partial", "this history does not have the app: its roles are as the backend reports them")
	}
	text := fields.Text(p.width, p.style)
	if p.sweep != nil {
		return text + "\nIts trials: torchx status " + p.clean(p.description.Handle()) + "\n"
	}
	if len(p.app.Roles) > 0 {
		text += "\n" + p.roleTable()
	}
	return text + "\nAll of it: torchx describe --full " + p.clean(p.description.Handle()) + "\n"
}

// addProvenance adds where the app comes from.
func (p *describePage) addProvenance(fields *ui.Fields) {
	r := p.description
	if !r.Recorded {
		return
	}
	fields.Add("Folder", p.clean(r.Cwd))
	by := strings.Trim(r.User+"@"+r.Host, "@")
	if r.Version != "" {
		by = strings.TrimPrefix(by+", torchx "+r.Version, ", ")
	}
	fields.Add("By", p.clean(by))
	fields.Add("Libraries", p.clean(program.LibrariesText(r.Libraries)))
	c := r.Checkout
	if c == nil {
		return
	}
	fields.Add("Commit", p.clean(program.CommitText(c)))
	fields.Add("Remote", p.clean(c.Remote))
	fields.Add("Changes", p.clean(program.ChangesText(c)))
	if c.DiffSum != "" {
		fields.Add("Diff", p.clean(ui.BytesText(c.DiffBytes)+": torchx describe --diff "+p.description.Handle()))
	}
}

// submittedAt returns when the app was submitted, nil if not known.
func (p *describePage) submittedAt() *time.Time {
	if p.description.SubmittedAt == nil && p.status != nil {
		return p.status.SubmittedAt
	}
	return p.description.SubmittedAt
}

// roleTable returns the table of roles, each with details below its row.
func (p *describePage) roleTable() string {
	tab := ui.Table{Header: []string{"ROLE", "REPLICAS", "ENTRYPOINT", "RESOURCES", "RETRIES", "ENV"}}
	for i := range p.app.Roles {
		r := &p.app.Roles[i]
		tab.Add(ui.NewCell(p.clean(r.Name), ""), ui.NewCell(replicasText(r), ""), ui.NewCell(p.clean(r.Entrypoint), ""),
			ui.NewCell(p.clean(resourceText(&r.Resource)), ""), ui.NewCell(retriesText(r), ""), ui.NewCell(strconv.Itoa(len(r.Env)), ""))
	}
	return p.tableWithNotes(&tab, []string{"ENTRYPOINT", "RESOURCES", "ROLE"}, func(i int) string { return p.roleDetails(&p.app.Roles[i]) })
}

// roleDetails returns what the table of roles has no column for, one line for each.
func (p *describePage) roleDetails(r *spec.Role) string {
	var lines []string
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, label+": "+p.clean(value))
		}
	}
	add("image", strings.TrimPrefix(r.Image, spec.None))
	add("args", foldedArgs(r.Args))
	for _, m := range r.Mounts {
		add("mount", mountText(m))
	}
	add("ports", mapText(r.PortMap))
	if order, err := r.Order(); err == nil {
		for _, d := range order.DependsOn {
			add("waits for", d.String())
		}
		if order.Ready != nil {
			add("ready when", order.Ready.String())
		}
		if order.Sidecar {
			add("sidecar", "stopped when all other roles have succeeded")
		}
		if order.MaxParallel > 0 {
			add("max_parallel", strconv.Itoa(order.MaxParallel))
		}
		add("timeout", attemptTimeoutText(order))
	} else {
		add("metadata", jsonText(r.Metadata))
	}
	add("devices", mapText(r.Resource.Devices))
	add("capabilities", jsonText(r.Resource.Capabilities))
	if r.Workspace != nil {
		add("workspace", mapText(r.Workspace.Projects))
	}
	return strings.Join(lines, "\n")
}

// foldedArgs returns arguments as typed in a shell, long ones shortened.
func foldedArgs(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = ui.FoldText(arg)
	}
	return strings.Join(words, " ")
}

// replicasText returns the number of replicas of a role, and how many it needs at least.
func replicasText(r *spec.Role) string {
	text := strconv.Itoa(r.NumReplicas)
	if r.MinReplicas != nil && *r.MinReplicas != r.NumReplicas {
		text += fmt.Sprintf(" (min %d)", *r.MinReplicas)
	}
	return text
}

// retriesText returns how often a role is retried, and what starts again.
func retriesText(r *spec.Role) string {
	if r.MaxRetries == 0 {
		return "0"
	}
	what := map[spec.RetryPolicy]string{spec.RetryReplica: "replica", spec.RetryRole: "role", spec.RetryApplication: "app"}[r.RetryPolicy]
	return fmt.Sprintf("%d (%s)", r.MaxRetries, what)
}

// resourceText returns what a replica requests: "2 CPUs, 1 GPU, 8 GiB"; "-" for nothing.
func resourceText(r *spec.Resource) string {
	var parts []string
	if r.CPU > 0 {
		noun := " CPUs"
		if r.CPU == 1 {
			noun = " CPU"
		}
		parts = append(parts, strconv.FormatFloat(r.CPU, 'f', -1, 64)+noun)
	}
	if r.GPU > 0 {
		parts = append(parts, ui.Counted(r.GPU, "GPU"))
	}
	if r.MemMB > 0 {
		parts = append(parts, strings.Replace(ui.BytesText(int64(r.MemMB)<<20), ".0 ", " ", 1))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// mountText returns a mount: "bind /data -> /mnt (read-only)".
func mountText(m spec.Mount) string {
	text := fmt.Sprintf("%s %s -> %s", m.Type, m.Src, m.Dst)
	switch {
	case m.ReadOnly:
		text += " (read-only)"
	case m.Permissions != "":
		text += " (" + m.Permissions + ")"
	}
	return text
}

// mapText returns the entries of a map: "http=80, metrics=9090".
func mapText[V any](m spec.Map[V]) string {
	var words []string
	for _, e := range m {
		words = append(words, fmt.Sprintf("%s=%v", e.Key, e.Value))
	}
	return strings.Join(words, ", ")
}

// jsonText returns a value as JSON in one line, "" for an empty map.
func jsonText(v any) string {
	data, err := json.Marshal(v)
	if text := string(data); err == nil && text != "{}" && text != "null" {
		return text
	}
	return ""
}

// changedOptions returns the options of an app that differ from the backend's defaults, with
// secrets hidden: "grace_period=3, log_dir=/logs".
func changedOptions(
	f *program.Factory, r *runner.Runner, backendName string, cfg json.RawMessage,
) (string, error) {
	masked, err := f.MaskedJSON(cfg)
	if err != nil {
		return "", err
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(masked, &values); err != nil {
		return "", fmt.Errorf("read the options of the app: %w", err)
	}
	b, err := r.Backends.Get(backendName)
	if err != nil {
		return "", err
	}
	for _, o := range b.Options() {
		if jsonText(o.Default) == jsonText(values[o.Key]) {
			delete(values, o.Key)
		}
	}
	var words []string
	for _, key := range ui.Keys(values) {
		text := string(values[key])
		if s := ""; json.Unmarshal(values[key], &s) == nil {
			text = ui.QuoteWord(s)
		}
		words = append(words, key+"="+text)
	}
	return ui.OneLine(strings.Join(words, ", ")), nil
}
