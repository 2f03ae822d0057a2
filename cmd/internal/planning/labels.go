package planning

import (
	"fmt"
	"maps"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

// Labels returns the labels of --tag and --note, and the tags of .torchxconfig. command is for
// errors.
func Labels(
	command string, texts []string, note string, conf *config.Config,
) (l history.Labels, defaults map[string]string, err error) {
	l.Note = note
	l.Tags, err = history.ParseTags(texts)
	if err == nil {
		err = history.CheckNote(note)
	}
	if err != nil {
		return l, nil, program.Usagef(command, "%v", err)
	}
	if v, ok := conf.Get("torchx", "tags"); ok {
		if defaults, err = history.ParseTags(backend.SplitCSV(v.Text)); err != nil {
			return l, nil, fmt.Errorf("%s: %w", v.Origin(), err)
		}
	}
	return l, defaults, nil
}

// Inherit gives a rerun the tags of the past app, unless it sets them anew. The rerun of a trial
// does not belong to the sweep.
func Inherit(q *runner.PlanRequest, past *runner.Recorded) {
	q.RerunOf = past.Ref.Handle()
	tags := maps.Clone(past.Tags)
	if tags == nil {
		return
	}
	delete(tags, sweep.SweepTag)
	delete(tags, sweep.TrialTag)
	maps.Copy(tags, q.Tags)
	q.Tags = tags
}
