package planning

import (
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/spec"
)

// ParseTimeout parses --timeout of a command; "" means none.
func ParseTimeout(command, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := spec.ParseTimeout(text)
	if err != nil {
		return 0, program.Usagef(command, "invalid --timeout %q: %v", text, err)
	}
	return d, nil
}

// applyTimeout returns the app with the time limit of --timeout, which overrides that of the
// component.
func applyTimeout(app *spec.App, o *Options) (*spec.App, error) {
	limit, err := ParseTimeout(o.Command, o.Timeout)
	if err != nil {
		return nil, err
	}
	app = app.Clone()
	app.SetTimeout(limit)
	return app, nil
}
