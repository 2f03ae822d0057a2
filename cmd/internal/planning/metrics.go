package planning

import (
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// ParseMetrics parses the values NAME=REGEX of a flag; a later one replaces an earlier one with
// its name. flag names it in errors.
func ParseMetrics(command, flag string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		name, re, ok := strings.Cut(text, "=")
		if !ok || name == "" || re == "" {
			return nil, program.Usagef(command, `%s %s is not NAME=REGEX, such as 'loss=loss: ([0-9.]+)'`, flag, ui.QuoteWord(text))
		}
		all[name] = re
	}
	if err := pattern.Check(all); err != nil {
		return nil, program.Usagef(command, "%s: %v", flag, err)
	}
	return all, nil
}

// applyMetrics returns the app with the patterns of --metric, which override those of the
// component by name.
func applyMetrics(app *spec.App, o *Options) (*spec.App, error) {
	given, err := ParseMetrics(o.Command, "--metric", o.Metrics)
	if err != nil {
		return nil, err
	}
	app = app.Clone()
	app.SetMetrics(given)
	if err := app.Validate(); err != nil {
		return nil, program.Usagef(o.Command, "--metric: %v", err)
	}
	return app, nil
}
