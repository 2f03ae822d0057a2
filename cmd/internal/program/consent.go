package program

import (
	"errors"
	"iter"
	"slices"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/consent"
)

// TrustedList returns the list of files that the user trusts.
func (f *Factory) TrustedList() (consent.List, error) {
	home, err := f.Env.Home()
	return consent.Of(home), err
}

// CheckConsent returns an error if an option names a file that can run programs on this
// machine and that the user does not trust. The first layer that has an option counts. Files
// that the user names need no consent; neither do files that an app was submitted with,
// unless they are listed and were changed or revoked. Errors: backend.ErrUnavailable.
func (f *Factory) CheckConsent(b backend.Backend, layers ...backend.Layer) error {
	files, ok := b.(backend.TrustedFiler)
	if !ok {
		return nil
	}
	list, err := f.TrustedList()
	if err != nil {
		return err
	}
	for _, o := range b.Options() {
		v, ok := backend.Find(o.Key, layers...)
		if !ok || v.Source == backend.SourceUser {
			continue
		}
		cfg, _, err := backend.Resolve([]backend.Option{o}, backend.Layer{v})
		if err != nil {
			continue // the code that uses the option reports what is wrong with it
		}
		if err := f.checkFiles(list, files.TrustedFiles(cfg), v); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles returns an error for the first file that is not trusted.
func (f *Factory) checkFiles(list consent.List, files iter.Seq[string], v backend.Value) error {
	check := list.Check
	if v.Source == backend.SourceRecord {
		check = list.Recheck
	}
	for file := range files {
		err := check(file)
		switch {
		case err == nil:
		case errors.Is(err, consent.ErrUnknown), errors.Is(err, consent.ErrChanged), errors.Is(err, consent.ErrRevoked):
			return backend.Errorf(backend.ErrUnavailable, "%s: %s %s can run programs on this machine and %w (read it, then type `torchx config trust %s`)",
				f.ShortPath(v.Origin), v.Key, f.ShortPath(file), err, ui.QuoteWord(file))
		default:
			return backend.Errorf(backend.ErrUnavailable, "%s: %s: %w", f.ShortPath(v.Origin), v.Key, err)
		}
	}
	return nil
}

// TrustedWith returns file and the programs that it runs according to the backends.
func (f *Factory) TrustedWith(file string) ([]string, error) {
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	files := []string{file}
	for _, name := range reg.Names() {
		b, err := reg.Get(name)
		if err != nil {
			return nil, err
		}
		t, ok := b.(backend.TrustedFiler)
		if !ok {
			continue
		}
		for _, o := range b.Options() {
			files = slices.AppendSeq(files, t.TrustedFiles(backend.Config{o.Key: file}))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
