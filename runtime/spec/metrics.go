package spec

import (
	"fmt"
	"maps"

	"torchx/runtime/pattern"
)

// metricsKey is the key, of app and role metadata, of the metrics in the log:
//
//	metadata = {"torchx": {"metrics": {"loss": r"loss[=: ]+([-+.0-9eE]+)", "step": r"step (\d+)"}}}
const metricsKey = "metrics"

// Metrics returns the patterns of the metrics in a role's log, by name: those of the app, and
// those of the role, which override them. nil: none.
func (a *App) Metrics(role *Role) (map[string]string, error) {
	all, err := metricsOf(fmt.Sprintf("app %s", a.Name), a.Metadata)
	if err != nil {
		return nil, err
	}
	own, err := metricsOf("role "+role.Name, role.Metadata)
	if err != nil || len(own) == 0 {
		return all, err
	}
	if all == nil {
		return own, nil
	}
	maps.Copy(all, own)
	return all, nil
}

// checkMetrics checks the patterns of all roles.
func (a *App) checkMetrics() error {
	for i := range a.Roles {
		text, err := a.Metrics(&a.Roles[i])
		if err != nil {
			return err
		}
		if _, err := pattern.Parse(text); err != nil {
			return fmt.Errorf("role %s: %w", a.Roles[i].Name, err)
		}
	}
	return nil
}

func metricsOf(what string, metadata map[string]any) (map[string]string, error) {
	torchx, _ := metadata[OrderKey].(map[string]any)
	v, ok := torchx[metricsKey]
	if !ok {
		return nil, nil
	}
	at := fmt.Sprintf("%s: metadata[%q][%q]", what, OrderKey, metricsKey)
	values, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is %s, want a dict of patterns by name", at, kindOf(v))
	}
	all := make(map[string]string, len(values))
	for name, v := range values {
		if all[name], ok = v.(string); !ok {
			return nil, fmt.Errorf("%s[%s] is %s, want a pattern (RE2) with a group for the number",
				at, short(name), kindOf(v))
		}
	}
	return all, nil
}

// SetMetrics adds patterns of metrics in the logs of all roles; they override those of the app
// and of roles.
func (a *App) SetMetrics(patterns map[string]string) {
	values, _ := metricsOf("app", a.Metadata)
	all := map[string]any{}
	for name, text := range values {
		all[name] = text
	}
	for name, text := range patterns {
		all[name] = text
	}
	a.setOwn(metricsKey, all)
	for i := range a.Roles {
		own, _ := a.Roles[i].Metadata[OrderKey].(map[string]any)
		declared, _ := own[metricsKey].(map[string]any)
		maps.DeleteFunc(declared, func(name string, _ any) bool { _, ok := patterns[name]; return ok })
	}
}
