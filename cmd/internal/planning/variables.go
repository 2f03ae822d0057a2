package planning

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// variables are the variables that are added to every role.
type variables struct {
	values spec.Map[string]
	secret []string // names of those that came from files, sorted
}

func (v *variables) set(name, value string, secret bool) {
	v.values.Set(name, value)
	at, found := slices.BinarySearch(v.secret, name)
	switch {
	case secret && !found:
		v.secret = slices.Insert(v.secret, at, name)
	case !secret && found:
		v.secret = slices.Delete(v.secret, at, at+1)
	}
}

// variables returns the variables of the configuration's files or of a past app, then those
// of --env-file, then those of --env; later ones override earlier ones.
func (o *Options) variables(
	ctx context.Context, f *program.Factory, conf *config.Config,
) (v variables, err error) {
	secret, err := envFileSecrets(conf)
	if err != nil {
		return v, err
	}
	if r := o.recordedEnv; r != nil {
		for _, e := range r.Env {
			v.set(e.Key, e.Value, slices.Contains(r.SecretEnv, e.Key))
		}
	} else if err := v.addConfigured(ctx, f, conf, secret); err != nil {
		return v, err
	}
	for _, path := range o.EnvFiles {
		if err := v.addFile(ctx, f, path, secret, openGiven); err != nil {
			return v, err
		}
	}
	given, unset, err := runner.ParseEnv(o.Env, f.Env.Lookup)
	if err != nil {
		return v, program.Usagef(o.Command, "%v", err)
	}
	for _, name := range unset {
		f.Warn("--env %s: %s is not set here and is left out", name, name)
	}
	for _, e := range given {
		v.set(e.Key, e.Value, false)
	}
	return v, nil
}

// envFileSecrets reports whether values of files are secrets: yes, unless [torchx]
// env_file_secrets says no.
func envFileSecrets(conf *config.Config) (bool, error) {
	v, ok := conf.Get("torchx", "env_file_secrets")
	switch {
	case !ok || strings.EqualFold(v.Text, "true"):
		return true, nil
	case strings.EqualFold(v.Text, "false"):
		return false, nil
	}
	return false, fmt.Errorf("%s: env_file_secrets is %q, want true or false", v.Origin(), v.Text)
}

// addConfigured adds the variables of the files of [torchx] env_file, whose paths are relative
// to the folder of the configuration file.
func (v *variables) addConfigured(
	ctx context.Context, f *program.Factory, conf *config.Config, secret bool,
) error {
	files, ok := conf.Get("torchx", "env_file")
	if !ok {
		return nil
	}
	for _, path := range backend.SplitCSV(strings.ReplaceAll(files.Text, "\n", ",")) {
		if err := v.addFile(ctx, f, f.Env.InDir(filepath.Dir(files.File)).Absolute(path), secret, safefile.OpenInput); err != nil {
			return fmt.Errorf("%s: env_file: %w", f.ShortPath(files.Origin()), err)
		}
	}
	return nil
}

func (v *variables) addFile(ctx context.Context, f *program.Factory, path string, secret bool,
	open func(string) (*os.File, error),
) error {
	name := f.ShortPath(path)
	file := program.Cancelable(ctx, func() (io.ReadCloser, error) { return open(path) })
	defer file.Close()
	all, err := config.ReadEnvFile(withoutPath{file}, name, f.Env.Lookup)
	for _, e := range all {
		v.set(e.Name, e.Value, secret)
	}
	return err
}

// openGiven opens a file that the user named, which may be a pipe: <(COMMAND).
func openGiven(path string) (*os.File, error) { return os.Open(path) }

// withoutPath removes the path from errors of a reader, whose caller names it.
type withoutPath struct{ io.Reader }

func (r withoutPath) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader returns io.EOF itself
		err = program.PathCause(err)
	}
	return n, err
}

// HideSecretEnv hides the values of the app's variables that came from files.
func HideSecretEnv(f *program.Factory, app *spec.App) error {
	limits, err := app.Limits()
	f.HideVariables(limits.SecretEnv)
	return err
}
