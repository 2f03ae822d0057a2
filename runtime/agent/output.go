package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/policy"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// outputFolder is the folder of a bundle for the outputs of its app.
const outputFolder = "output"

// OutputDir returns the folder of an app's outputs, which all replicas and attempts share: in
// the bundle, or below the option output_dir. It does not exist if an agent of a version
// without outputs ran the app.
func (b Bundle) OutputDir(m *Manifest) string {
	if m.OutputDir != "" {
		return m.OutputDir
	}
	return b.path(outputFolder)
}

// OutputPath returns the folder of an app's outputs below dir, the value of output_dir.
func OutputPath(dir, id string) string { return filepath.Join(dir, safefile.Escape(id)) }

// makeOutput creates the folder of outputs.
func (a *agent) makeOutput() error {
	dir := a.bundle.OutputDir(a.manifest)
	mode := fs.FileMode(0o700)
	if a.manifest.OutputDir != "" {
		mode = 0o777 // the user's umask applies, as to any folder
	}
	if err := makeEmpty(dir, mode); err != nil {
		return fmt.Errorf("cannot create the output folder: %w", err)
	}
	if a.manifest.Containers {
		a.logError(shareFolder(dir, os.Geteuid()))
	}
	return nil
}

// restoreOutput creates the folder of outputs if it is missing: the former agent died before
// it did, or had no outputs.
func (a *agent) restoreOutput() error {
	dir := a.bundle.OutputDir(a.manifest)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return a.makeOutput()
}

// makeEmpty creates a folder and its parents. It accepts an empty folder, which a killed
// submission may have left.
func makeEmpty(dir string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	err := os.Mkdir(dir, mode)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !isEmpty(dir) {
		return fmt.Errorf("%s already exists (move it away, or choose another output_dir)", dir)
	}
	return nil
}

func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// outputEnv returns the variable that names the folder of outputs, unless the role sets it.
func (a *agent) outputEnv(r *policy.Replica) []string {
	if _, ok := r.Role.Env.Get(spec.OutputVariable); ok {
		return nil
	}
	return []string{spec.OutputVariable + "=" + a.bundle.OutputDir(a.manifest)}
}
