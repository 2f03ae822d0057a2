package status

import (
	"encoding/json"
	"time"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// descriptionObject is `describe --json`, which `submit` reads; unknown values are null.
type descriptionObject struct {
	Handle      string              `json:"handle"`
	AppID       string              `json:"app_id"`
	Name        ui.NullString       `json:"name"`
	SubmittedAt *time.Time          `json:"submitted_at"`
	App         json.RawMessage     `json:"app"`
	Cfg         json.RawMessage     `json:"cfg"`
	Component   *string             `json:"component"`
	Args        []string            `json:"args"`
	Partial     bool                `json:"partial"`
	Provenance  *program.Provenance `json:"provenance"`
	apps.OriginObject
}

func newDescriptionObject(ref runner.Ref, d *runner.Description) descriptionObject {
	o := descriptionObject{
		Handle: d.Handle, AppID: ref.ID, Name: ui.NullString(d.Name), SubmittedAt: ui.UTC(d.SubmittedAt),
		App: d.App, Cfg: d.Cfg, Component: d.Component, Args: d.Args, Partial: d.Partial,
		OriginObject: apps.NewOriginObject(d.Labels, d.ParentRunID, d.RerunOf),
	}
	if d.Record != nil {
		o.Provenance = program.ProvenanceOf(&d.Record.Source, d.Record.Checkout)
	}
	if o.Component != nil && o.Args == nil {
		o.Args = []string{}
	}
	return o
}
