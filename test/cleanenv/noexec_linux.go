package cleanenv

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// init moves the temporary files of tests, which include programs, to the folder of the test
// binary if no program may run in TMPDIR. Go itself needs GOTMPDIR then.
func init() { //nolint:gochecknoinits // before any test, and before TestMain
	var fs unix.Statfs_t
	if err := unix.Statfs(os.TempDir(), &fs); !isTestBinary() || err != nil ||
		fs.Flags&unix.ST_NOEXEC == 0 {
		return
	}
	if exe, err := os.Executable(); err == nil {
		_ = os.Setenv("TMPDIR", filepath.Dir(exe))
	}
}
