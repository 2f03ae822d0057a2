package planning

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// Recorded holds the options of a run that the history keeps for rerun, in addition to its
// component, arguments, backend and -cfg.
type Recorded struct {
	Env         spec.Map[string]  `json:"env,omitempty"`        // --env and --env-file
	SecretEnv   []string          `json:"secret_env,omitempty"` // those of Env whose values are secrets
	Workspace   string            `json:"workspace,omitempty"`
	NoWorkspace bool              `json:"no_workspace,omitempty"` // --workspace=
	ParentRunID string            `json:"parent_run_id,omitempty"`
	Inputs      map[string]any    `json:"component_args,omitempty"` // of --stdin
	Config      map[string]string `json:"config,omitempty"`         // [component:NAME]
	Image       string            `json:"image,omitempty"`          // torchx.IMAGE
	TTY         bool              `json:"tty,omitempty"`            // --tty
	Timeout     string            `json:"timeout,omitempty"`        // --timeout
	OnEnd       []string          `json:"on_end,omitempty"`         // --on-end
	Metrics     []string          `json:"metrics,omitempty"`        // --metric
	After       []backend.After   `json:"after,omitempty"`          // --after
	Sweep       json.RawMessage   `json:"sweep,omitempty"`          // of a sweep: how its trials differ
}

// record returns the record of o; env are the variables, image that of torchx.IMAGE.
func (o *Options) record(env variables, image string) (json.RawMessage, error) {
	data, err := json.Marshal(Recorded{
		Env: env.values, SecretEnv: env.secret, Workspace: o.Workspace, NoWorkspace: o.HasWorkspace && o.Workspace == "", ParentRunID: o.ParentRunID,
		Inputs: o.Inputs.JSON, Config: o.Inputs.Config, Image: image, TTY: o.TTY, Timeout: o.Timeout, OnEnd: o.OnEnd, Metrics: o.Metrics,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the options: %w", err)
	}
	return data, nil
}

// RecordSweep returns a record that also says how the trials of a sweep differ.
func RecordSweep(raw json.RawMessage, values any) (json.RawMessage, error) {
	return changeRecord(raw, func(r *Recorded) (err error) {
		r.Sweep, err = json.Marshal(values)
		return err
	})
}

// RecordVariables returns a record with further variables.
func RecordVariables(raw json.RawMessage, more spec.Map[string]) (json.RawMessage, error) {
	return changeRecord(raw, func(r *Recorded) error {
		for _, e := range more {
			r.Env.Set(e.Key, e.Value)
		}
		return nil
	})
}

func changeRecord(raw json.RawMessage, change func(*Recorded) error) (json.RawMessage, error) {
	r, err := ReadRecorded(raw)
	if err == nil {
		err = change(&r)
	}
	if err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(r); err != nil {
		return nil, fmt.Errorf("encode the options: %w", err)
	}
	return raw, nil
}

// ReadRecorded reads a record; an empty one sets no option.
func ReadRecorded(raw json.RawMessage) (r Recorded, err error) {
	if len(raw) == 0 {
		return r, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("read the recorded options: %w", err)
	}
	if r.Config == nil {
		r.Config = map[string]string{} // the current file does not apply
	}
	return r, nil
}

// restore sets the recorded options that are not overridden.
func (o *Options) restore(r *Recorded) {
	o.recordedEnv = r
	if !o.HasWorkspace {
		o.Workspace, o.HasWorkspace = r.Workspace, r.Workspace != "" || r.NoWorkspace
	}
	if o.ParentRunID == "" {
		o.ParentRunID = r.ParentRunID
	}
	o.Timeout = cmp.Or(o.Timeout, r.Timeout)
	o.Metrics = slices.Concat(r.Metrics, o.Metrics)
	if !o.HasOnEnd {
		o.OnEnd, o.HasOnEnd = r.OnEnd, len(r.OnEnd) > 0
	}
	if len(o.After) == 0 {
		for _, a := range r.After {
			o.After = append(o.After, a.String())
		}
	}
	o.Inputs.JSON, o.Inputs.Config = r.Inputs, r.Config
}

// PastApp returns the record of the app that text names.
func PastApp(ctx context.Context, f *program.Factory, text string) (*runner.Recorded, error) {
	r, ref, err := f.Resolve(ctx, text)
	if err != nil {
		return nil, err
	}
	program.AwaitProvenance(ctx, f, ref)
	return r.Recorded(ctx, ref)
}

// RerunOptions returns the options to run a past app again: o with the recorded options that o does
// not override. The recorded backend and -cfg apply unless o names another backend. The
// returned factory works in the folder where the app was run.
func RerunOptions(
	f *program.Factory, o Options, past *runner.Recorded,
) (*program.Factory, Options, error) {
	f, err := inFolderOf(f, past)
	if err != nil {
		return nil, o, err
	}
	recorded, err := ReadRecorded(past.Request)
	if err != nil {
		return nil, o, fmt.Errorf("%s: %w", past.Ref.Handle(), err)
	}
	o.restore(&recorded)
	o.Backend = cmp.Or(o.Backend, past.Ref.Backend)
	alias, err := f.Canonical("rerun", o.Backend)
	if err != nil {
		return nil, o, err
	}
	if alias.Backend == past.Ref.Backend {
		o.TTY = recorded.TTY
		o.recordedCfg = append(backend.DefaultsLayer(alias.Defaults, o.Backend),
			backend.JSONLayer(past.Cfg, past.Ref.Handle()).From(backend.SourceRecord)...)
	}
	return f, o, nil
}

// inFolderOf returns a factory that works in the folder where the app was run.
func inFolderOf(f *program.Factory, past *runner.Recorded) (*program.Factory, error) {
	if past.Cwd == "" {
		return f, nil
	}
	if info, err := os.Stat(past.Cwd); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the folder %s, where %s was run, no longer exists: create it, or use `torchx run` in another folder",
			past.Cwd, past.Ref.Handle())
	}
	return f.InDir(past.Cwd), nil
}

// FromRecord returns a past app as it was recorded. It keeps the workspace that the app contains,
// whatever that of o is.
func FromRecord(past *runner.Recorded, o *Options) App {
	o.HasWorkspace = true
	return App{past.App, past.Source}
}
