package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/portable"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// add writes an app to the archive.
func (e *exporter) add(ctx context.Context, w *portable.Writer, ref runner.Ref) error {
	program.AwaitProvenance(ctx, e.Factory, ref)
	d, err := e.runner.Describe(ctx, ref)
	if err != nil {
		return err
	}
	seen, err := e.runner.See(ctx, ref)
	if err != nil {
		return err
	}
	app := &spec.App{}
	_ = json.Unmarshal(d.Spec, app) // of a newer version: it hides less
	limits, _ := app.Limits()
	e.HideVariables(limits.SecretEnv)
	record, err := e.record(ctx, d, seen.Status)
	if err != nil {
		return err
	}
	hide, err := e.newCensor(app, limits.SecretEnv)
	if err != nil {
		return err
	}
	var diff []byte
	if d.Recorded && d.Checkout != nil && d.Checkout.DiffSum != "" {
		if diff, err = program.SourceDiff(ctx, e.runner, &d.App); err != nil {
			e.Warn("%v", err)
		}
	}
	logs := filepath.Join(e.dir, "logs")
	defer os.RemoveAll(logs)
	if err := e.copyLogs(ctx, ref, seen, hide, logs); err != nil {
		return fmt.Errorf("export the logs of %s: %w", ref.Handle(), err)
	}
	return w.Add(ctx, record, hide.text(diff), e.parts(ctx, ref, logs))
}

// record returns the record of an app, secrets hidden.
func (e *exporter) record(ctx context.Context, d *history.View, s *spec.Status) ([]byte, error) {
	host, _ := os.Hostname()
	r := portable.Run{
		Origin: backend.Import{Handle: d.Handle(), Host: host, ExportedAt: time.Now().UTC()},
		Name:   d.Name, App: d.Spec, Cfg: d.Cfg, Source: d.Source, Labels: d.Labels, Checkout: d.Checkout,
		SubmittedAt: cmp.Or(d.SubmittedAt, s.SubmittedAt, s.StartedAt, &time.Time{}), Status: s,
		Events: e.runner.BackendEvents(ctx, d.AppKey, s),
	}
	if can, err := e.runner.Backends.Capabilities(d.Backend); err == nil && can.Imports != nil {
		from, err := can.Imports.ImportOf(d.ID)
		if err != nil {
			return nil, err
		}
		r.Origin, r.Origin.ImportedAt = *from, nil
	}
	return e.MaskedJSON(r)
}

// parts returns what goes beside the record.
func (e *exporter) parts(ctx context.Context, ref runner.Ref, logs string) []portable.Part {
	all := []portable.Part{{Dir: logs, Name: ".", As: "."}}
	if dir, err := e.runner.Metrics(ctx, ref); err == nil {
		for _, name := range metrics.Files {
			all = append(all, portable.Part{Dir: dir, Name: name, As: name})
		}
	}
	can, err := e.runner.Backends.Capabilities(ref.Backend)
	if err == nil && can.Usage != nil {
		dir, _ := can.Usage.UsageDir(ctx, ref.ID)
		all = append(all, portable.Part{Dir: dir, Name: "usage", As: "usage"})
	}
	if !e.outputs || e.runner.IsSweep(ref) {
		return all
	}
	out, err := e.runner.Output(ctx, ref)
	switch {
	case err != nil:
		e.Warn("without outputs: %v", err)
	case !out.Here:
		e.Warn("without the outputs of %s, which are in %s: run `%s`", ref.Handle(), out.Place, out.Read)
	default:
		all = append(all, portable.Part{Dir: out.Place, Name: ".", As: portable.OutputFolder})
	}
	return all
}
