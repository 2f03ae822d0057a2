package run

import (
	"torchx/cmd/internal/program"
	"torchx/runtime/config"
)

// UseBackend takes the backend that `run` would take.
func (o *RunOptions) UseBackend(t *program.Factory, conf *config.Config) error {
	defaults := conf.Cli("run")
	for _, key := range []string{"scheduler", "backend"} {
		if o.Backend == "" {
			o.Backend = defaults[key]
		}
	}
	return ChooseBackend(t, o)
}
