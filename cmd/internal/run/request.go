package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
)

// runRequest is the JSON of `run --stdin`, with the field names of TorchX.
type runRequest struct {
	ComponentName    *string        `json:"component_name"`
	Scheduler        *string        `json:"scheduler"`
	SchedulerArgs    map[string]any `json:"scheduler_args"`
	SchedulerCfg     map[string]any `json:"scheduler_cfg"` // options too; scheduler_args win
	Dryrun           bool           `json:"dryrun"`
	Wait             bool           `json:"wait"`
	Log              bool           `json:"log"`
	Workspace        string         `json:"workspace"`
	ParentRunID      *string        `json:"parent_run_id"`
	TeeLogs          bool           `json:"tee_logs"` // accepted: logs are always kept
	ComponentArgs    map[string]any `json:"component_args"`
	ComponentArgsStr []string       `json:"component_args_str"` // as on the command line; they win
}

// onlyStdin returns a usage error for options that the JSON of --stdin sets, too.
func onlyStdin(c *cli.Context) error {
	for _, name := range c.LocalFlagNames() {
		switch name {
		case "stdin", "timeout", "on-end", "env-file", "dryrun", "dry-run", "json", "queue", "after":
			continue
		}
		return program.Usagef("run", "%s cannot be used with --stdin (put it into the JSON)",
			grammar.Spelling(name))
	}
	if c.NArg() > 0 {
		return program.Usagef("run", "a component cannot be named with --stdin (put it into the JSON as component_name)")
	}
	return nil
}

// readRunRequest fills o from the JSON on stdin.
func readRunRequest(ctx context.Context, f *program.Factory, o *options) error {
	data, err := readLimited(f.Input(ctx))
	if err != nil {
		return fmt.Errorf("read stdin: %w", err)
	}
	req, err := parseRunRequest(data)
	if err != nil {
		return fmt.Errorf("--stdin: %w", err)
	}
	o.Component, o.Backend = *req.ComponentName, *req.Scheduler
	o.CfgJSON, o.CfgOrigin = req.options(), "scheduler_args"
	o.dryrun = o.dryrun || req.Dryrun
	o.follow.Wait, o.follow.Log, o.Workspace = req.Wait, req.Log, req.Workspace
	o.HasWorkspace = req.Workspace != ""
	if req.ParentRunID != nil {
		o.ParentRunID = *req.ParentRunID
	}
	o.Inputs.JSON, o.Inputs.Args = req.ComponentArgs, req.ComponentArgsStr
	return nil
}

func parseRunRequest(data []byte) (*runRequest, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("not a JSON object: %s", jsonProblem(err, data))
	}
	if err := checkFields(fields); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	req := &runRequest{}
	if err := d.Decode(req); err != nil {
		return nil, errors.New(jsonProblem(err, data))
	}
	return req, nil
}

// requestFields are the fields of a runRequest, the required ones first.
var requestFields = []string{
	"component_name", "scheduler", "scheduler_args",
	"scheduler_cfg", "dryrun", "wait", "log", "workspace", "parent_run_id", "tee_logs", "component_args", "component_args_str",
}

func checkFields(fields map[string]json.RawMessage) error {
	for _, name := range ui.Keys(fields) {
		if !slices.Contains(requestFields, name) {
			return fmt.Errorf("unknown field %q.%s", name, humanize.Hint(name, requestFields))
		}
	}
	for _, name := range requestFields[:3] {
		if v, ok := fields[name]; !ok || string(v) == "null" {
			return fmt.Errorf("field %q is missing: component_name, scheduler and scheduler_args are required", name)
		}
	}
	return nil
}

// jsonProblem describes an error in JSON text, with its line.
func jsonProblem(err error, data []byte) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return "it is null"
	case len(bytes.TrimSpace(data)) == 0:
		return "it is empty"
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d: %v", lineAt(data, syntax.Offset), err)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("line %d: field %q is a %s, expected %s", lineAt(data, kind.Offset),
			kind.Field, kind.Value, jsonType(kind.Type.String()))
	case errors.As(err, &kind):
		return "want an object, got " + kind.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// jsonType returns the JSON name of a Go type.
func jsonType(goType string) string {
	switch {
	case strings.HasPrefix(goType, "map"):
		return "an object"
	case strings.HasPrefix(goType, "[]"):
		return "an array of strings"
	case strings.HasSuffix(goType, "bool"):
		return "true or false"
	}
	return "a string"
}

// options returns scheduler_cfg overridden by scheduler_args.
func (r *runRequest) options() map[string]any {
	all := map[string]any{}
	maps.Copy(all, r.SchedulerCfg)
	maps.Copy(all, r.SchedulerArgs)
	return all
}
