package program

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/consent"
)

// TrustedList returns the list of files and folders that the user trusts.
func (f *Factory) TrustedList() (consent.List, error) {
	home, err := f.Env.Home()
	return consent.Of(home).With(f.sumOf), err
}

// ProjectOrigins returns the origins of the effective values that the project's file gives to
// options with a risk.
func ProjectOrigins(options []backend.Option, layers ...backend.Layer) (origins []string) {
	for _, o := range options {
		if v, ok := backend.Find(o.Key, layers...); ok && v.Source == backend.SourceProject &&
			o.Risk != backend.Harmless {
			origins = append(origins, v.Origin)
		}
	}
	return origins
}

// Consent returns an error unless the user trusts the settings of the project's file at these
// origins, as far as they are not harmless. On a terminal it asks. If nothing is submitted it
// only warns.
func (f *Factory) Consent(ctx context.Context, submit bool, origins ...string) error {
	err := f.CheckOrigins(origins...)
	switch {
	case !isUntrusted(err):
		return err
	case !submit:
		f.WarnOnce(err.Error())
		return nil
	case !f.CanAsk():
		return err
	}
	f.Say("settings of this folder need your consent:")
	if err := f.SaySettings(f.Env.Dir); err != nil {
		return err
	}
	yes, askErr := f.Confirm(ctx, "trust them until they change?")
	if askErr != nil || !yes {
		return errors.Join(askErr, err)
	}
	_, err = f.Trust(f.Env.Dir)
	return err
}

// CheckOrigins is Consent without a question. Errors: backend.ErrUnavailable.
func (f *Factory) CheckOrigins(origins ...string) error {
	if len(origins) == 0 {
		return nil
	}
	used, err := f.Settings(f.Env.Dir)
	if err != nil {
		return err
	}
	used = slices.DeleteFunc(used, func(s Setting) bool { return s.usual || !slices.Contains(origins, s.Origin()) })
	list, err := f.TrustedList()
	if err != nil || len(used) == 0 {
		return err
	}
	if s := used[0]; len(used) == 1 && s.own {
		return f.checkFiles(list.Check, slices.Values(s.Files),
			backend.Value{Key: s.Key, Origin: s.Origin()})
	}
	return f.checkSettings(list, used)
}

// checkSettings returns an error unless the folder of settings and the files that they name are
// trusted.
func (f *Factory) checkSettings(list consent.List, used []Setting) error {
	file := used[0].File
	changed, err := file, list.Check(filepath.Dir(file))
	var texts []string
	for i := range used {
		texts = append(texts, used[i].String())
		for _, named := range used[i].Files {
			if err == nil {
				changed, err = named, list.Check(named)
			}
		}
	}
	if err == nil || !isUntrusted(err) {
		return err
	}
	return backend.Errorf(backend.ErrUnavailable, "%s %w: %s (read it, then type `torchx config trust %s`)",
		f.ShortPath(changed), err, strings.Join(texts, ", "), ui.QuoteWord(f.typeable(file)))
}

// typeable returns a path for a command to type: short if the user is in the working folder, which
// is not so for a rerun in the folder of an app.
func (f *Factory) typeable(path string) string {
	if dir, err := os.Getwd(); err != nil || dir != f.Env.Dir {
		return path
	}
	return f.ShortPath(path)
}

func isUntrusted(err error) bool {
	return errors.Is(err, consent.ErrUnknown) || errors.Is(err, consent.ErrChanged) ||
		errors.Is(err, consent.ErrRevoked)
}

// Recheck returns an error if files in the options of a recorded app, which can run programs here,
// are listed and were changed or revoked. Errors: backend.ErrUnavailable.
func (f *Factory) Recheck(b backend.Backend, layers ...backend.Layer) error {
	files := b.Capabilities().Trusted
	if files == nil {
		return nil
	}
	list, err := f.TrustedList()
	if err != nil {
		return err
	}
	for _, o := range b.Options() {
		v, ok := backend.Find(o.Key, layers...)
		if !ok || v.Source != backend.SourceRecord {
			continue
		}
		cfg, _, err := backend.Resolve([]backend.Option{o}, backend.Layer{v})
		if err != nil {
			continue // the code that uses the option reports what is wrong with it
		}
		if err := f.checkFiles(list.Recheck, files.TrustedFiles(cfg), v); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles returns an error for the first file that is not trusted.
func (f *Factory) checkFiles(
	check func(string) error, files iter.Seq[string], v backend.Value,
) error {
	for file := range files {
		err := check(file)
		switch {
		case err == nil:
		case isUntrusted(err):
			return backend.Errorf(backend.ErrUnavailable, "%s: %s %s can run programs on this machine and %w (read it, then type `torchx config trust %s`)",
				f.ShortPath(v.Origin), v.Key, f.ShortPath(file), err, ui.QuoteWord(file))
		default:
			return backend.Errorf(backend.ErrUnavailable, "%s: %s: %w",
				f.ShortPath(v.Origin), v.Key, err)
		}
	}
	return nil
}
