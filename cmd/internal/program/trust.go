package program

import (
	"os"
	"slices"

	"torchx/runtime/backend"
)

// Trust trusts files with their programs, and folders with the settings of their .torchxconfig. It
// returns all files and folders that are now trusted.
func (f *Factory) Trust(paths ...string) (all []string, err error) {
	list, err := f.TrustedList()
	for i := 0; err == nil && i < len(paths); i++ {
		var with []string
		with, err = f.trustedWith(paths[i])
		all = append(append(all, paths[i]), with...)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all, list.Trust(all...)
}

// trustedWith returns the files that the settings of a folder name, or the programs that a file
// runs according to the backends.
func (f *Factory) trustedWith(path string) (files []string, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		settings, err := f.Settings(path)
		for i := range settings {
			files = append(files, settings[i].Files...)
		}
		return files, err
	}
	reg, err := f.Registry()
	if err != nil {
		return nil, err
	}
	for _, name := range reg.Names() {
		b, err := reg.Get(name)
		if err != nil {
			return nil, err
		}
		t := b.Capabilities().Trusted
		for i := 0; t != nil && i < len(b.Options()); i++ {
			files = slices.AppendSeq(files, t.TrustedFiles(backend.Config{b.Options()[i].Key: path}))
		}
	}
	return files, nil
}

// SaySettings prints the settings of a folder that need consent.
func (f *Factory) SaySettings(folder string) error {
	all, err := f.Settings(folder)
	for i := range all {
		f.Say("%s: %s", f.ShortPath(all[i].Origin()), all[i].String())
	}
	return err
}
