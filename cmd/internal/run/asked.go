package run

import (
	"bytes"
	"encoding/json"
	"fmt"

	"torchx/runtime/spec"
)

// asked is what an app was asked for beside its component, the arguments typed
// behind it, the backend and its options. The history keeps it for `rerun`.
type asked struct {
	Env         spec.Map[string]  `json:"env,omitempty"` // --env
	Workspace   string            `json:"workspace,omitempty"`
	NoWorkspace bool              `json:"no_workspace,omitempty"` // --workspace=
	ParentRunID string            `json:"parent_run_id,omitempty"`
	Inputs      map[string]any    `json:"component_args,omitempty"` // of --stdin
	Config      map[string]string `json:"config,omitempty"`         // [component:NAME]
	Image       string            `json:"image,omitempty"`          // what torchx.IMAGE was
	TTY         bool              `json:"tty,omitempty"`            // --tty
}

// asked is the record of o; env and image are what --env and torchx.IMAGE say.
func (o *RunOptions) asked(env spec.Map[string], image string) (json.RawMessage, error) {
	data, err := json.Marshal(asked{env, o.Workspace, o.HasWorkspace && o.Workspace == "", o.parentRunID, o.Inputs.JSON, o.Inputs.Config, image, o.follow.Tty.On})
	if err != nil {
		return nil, fmt.Errorf("encode what was asked for: %w", err)
	}
	return data, nil
}

// ReadAsked reads a record; one without a text asks for nothing.
func ReadAsked(raw json.RawMessage) (a asked, err error) {
	if len(raw) == 0 {
		return a, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		return a, fmt.Errorf("read what was asked for: %w", err)
	}
	if a.Config == nil {
		a.Config = map[string]string{} // there was none, whatever the file says now
	}
	return a, nil
}

// Take fills in what was asked for then and not said anew.
func (o *RunOptions) Take(a asked) {
	var env []string
	for _, e := range a.Env {
		env = append(env, e.Key+"="+e.Value)
	}
	o.Env = append(env, o.Env...) // of two values the last one counts
	if !o.HasWorkspace {
		o.Workspace, o.HasWorkspace = a.Workspace, a.Workspace != "" || a.NoWorkspace
	}
	if o.parentRunID == "" {
		o.parentRunID = a.ParentRunID
	}
	o.Inputs.JSON, o.Inputs.Config = a.Inputs, a.Config
}
