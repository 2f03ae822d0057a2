package planning

import (
	"context"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/starlark/component"
)

// use notes that a setting is in effect if the project's file has it.
func (o *Options) use(conf *config.Config, section, key string) {
	if v, ok := conf.Get(section, key); ok && v.Project {
		o.used = append(slices.Clone(o.used), v.Origin())
	}
}

// useArguments notes the arguments of a built-in component that the project's file sets.
func (o *Options) useArguments(found *component.Component, conf *config.Config) {
	if !strings.HasPrefix(found.File, "@torchx//") {
		return
	}
	section := "component:" + found.Name
	values := conf.Section(section)
	if len(values) == 0 {
		return
	}
	names := found.Configured(o.Inputs)
	for _, v := range values {
		if slices.Contains(names, strings.ReplaceAll(v.Key, "-", "_")) {
			o.use(conf, section, v.Key)
		}
	}
}

// checkConsent returns an error if what is submitted depends on settings of the project that the
// user does not trust.
func (o Options) checkConsent(
	ctx context.Context, f *program.Factory, conf *config.Config, layers []backend.Layer,
) error {
	if o.recordedEnv == nil {
		o.use(conf, "torchx", "env_file")
	}
	if f.Env.Get("TORCHX_IMAGE") == "" {
		o.use(conf, "torchx", "image")
	}
	if !o.HasOnEnd {
		o.use(conf, "torchx", "on_end")
	}
	reg, err := f.Registry()
	if err != nil {
		return err
	}
	b, err := reg.Get(o.Backend)
	if err != nil {
		return err
	}
	if err := f.Recheck(b, layers...); err != nil && o.Submit {
		return err
	}
	return f.Consent(ctx, o.Submit, append(o.used, program.ProjectOrigins(b.Options(), layers...)...)...)
}
