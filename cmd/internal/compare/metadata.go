package compare

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
)

func newMetadata(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "metadata",
		Usage: "list what is known about a run",
		UsageText: "HANDLE [--json]\n" +
			"torchx tracker list metadata -\n" +
			"torchx tracker list metadata echo --json",
		Description: "List the result of a run, its arguments, tags and note, where it comes from, the last value of each metric, and what " +
			"its programs recorded by torchx.tracker. Of a metric that several replicas have, the first replica counts. " + program.SecretsHelp + " " + program.HandleHelp,
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return listMetadata(c.Context, f, handle, asJSON)
		},
	}
}

// metadatum is a value with a name; Value is a text, an integer, a number or JSON.
type metadatum struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

// text returns the value for a table.
func (m *metadatum) text() string {
	switch v := m.Value.(type) {
	case int:
		return strconv.Itoa(v)
	case metrics.Number:
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	case json.RawMessage:
		return jsonText(v)
	default:
		return v.(string)
	}
}

func listMetadata(ctx context.Context, f *program.Factory, handle string, asJSON bool) error {
	r, ref, err := f.Resolve(ctx, handle)
	own, trackErr := readTracked(f, r, ref, handle)
	if trackErr != nil {
		return cmp.Or(err, trackErr)
	}
	var all []metadatum
	if err == nil {
		all, err = knownMetadata(ctx, f, r, ref)
	}
	if err != nil && len(own.metadata) == 0 {
		return err
	}
	recorded, err := own.list(f)
	if err != nil {
		return err
	}
	all = append(all, recorded...)
	if asJSON {
		return f.PrintJSON(all)
	}
	tab := &ui.Table{Header: []string{"ID", "VALUE"}}
	for _, m := range all {
		tab.Add(ui.NewCell(m.ID, ""), ui.NewCell(m.text(), ""))
	}
	return f.PrintTable(tab, nil)
}

func knownMetadata(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
) ([]metadatum, error) {
	program.AwaitProvenance(ctx, f, ref)
	one, err := load(ctx, f, r, ref)
	if err != nil {
		return nil, err
	}
	return one.metadata(f)
}

// metadata returns what is known about a run, secrets hidden: its result, arguments, labels and
// origin, in this order, and its metrics.
func (r *run) metadata(f *program.Factory) (all []metadatum, err error) {
	a, s := r.record, r.status
	add := func(id, value string) {
		if value != "" {
			all = append(all, metadatum{id, value})
		}
	}
	add("name", a.Name)
	add("state", s.State.String())
	if s.ExitCode != nil {
		all = append(all, metadatum{"exit_code", *s.ExitCode})
	}
	add("submitted_at", timeText(ui.UTC(a.SubmittedAt)))
	add("started_at", timeText(ui.UTC(s.StartedAt)))
	add("finished_at", timeText(ui.UTC(s.FinishedAt)))
	r.addFacts(add, "arguments")
	labels, err := r.labels(f)
	if err != nil {
		return nil, err
	}
	for _, l := range labels {
		add(l.ID, l.text())
	}
	add("parent_run_id", a.ParentRunID)
	add("rerun_of", a.RerunOf)
	add("host", a.Host)
	add("user", a.User)
	add("cwd", a.Cwd)
	if a.Checkout != nil {
		add("code.remote", a.Checkout.Remote)
	}
	r.addFacts(add, "code")
	r.addFacts(add, "libraries")
	for _, name := range slices.Sorted(maps.Keys(r.metrics)) {
		all = append(all, metadatum{"metrics." + name, metrics.Number(r.metrics[name].Last)})
	}
	return all, nil
}

// addFacts adds the facts of a part by name, the component first.
func (r *run) addFacts(add func(id, value string), part string) {
	keys := slices.SortedFunc(maps.Keys(r.facts), func(a, b factKey) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
	for _, key := range keys {
		if parts[key.part] == part {
			add(part+"."+key.name, r.facts[key].shown)
		}
	}
}

// labels returns the note and the tags, by key, secrets hidden.
func (r *run) labels(f *program.Factory) (all []metadatum, err error) {
	data, err := f.MaskedJSON(r.record.Labels)
	if err != nil {
		return nil, err
	}
	shown := r.record.Labels
	shown.Tags = nil
	if err := json.Unmarshal(data, &shown); err != nil {
		return nil, err
	}
	if shown.Note != "" {
		all = append(all, metadatum{"note", shown.Note})
	}
	for _, key := range ui.Keys(shown.Tags) {
		all = append(all, metadatum{"tags." + key, shown.Tags[key]})
	}
	return all, nil
}
