package planning

import (
	"fmt"
	"maps"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// labels returns the tags of .torchxconfig and of --tag, which overrides them, and the note.
func (o *Options) labels(conf *config.Config) (l history.Labels, err error) {
	given, err := history.ParseTags(o.Tags)
	if err == nil {
		err = history.CheckNote(o.Note)
	}
	if err != nil {
		return l, program.Usagef(o.Command, "%v", err)
	}
	tags := map[string]string{}
	if v, ok := conf.Get("torchx", "tags"); ok {
		if tags, err = history.ParseTags(backend.SplitCSV(v.Text)); err != nil {
			return l, fmt.Errorf("%s: %w", v.Origin(), err)
		}
	}
	maps.Copy(tags, given)
	if err := history.CheckTags(tags); err != nil {
		return l, program.Usagef(o.Command, "%v", err)
	}
	if len(tags) > 0 {
		l.Tags = tags
	}
	l.Note = o.Note
	return l, nil
}

// Inherit gives a rerun the tags of the past app, unless it sets them anew.
func Inherit(q *runner.PlanRequest, past *runner.Recorded) {
	q.RerunOf = past.Ref.Handle()
	tags := maps.Clone(past.Tags)
	if tags == nil {
		return
	}
	maps.Copy(tags, q.Tags)
	q.Tags = tags
}
