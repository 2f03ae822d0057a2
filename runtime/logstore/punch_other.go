//go:build !linux

package logstore

import (
	"errors"
	"os"
)

// punch is not supported on this system: a log with a size limit ends at the limit.
func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }

// dataEnd does not detect holes on this system.
func dataEnd(_ string, info os.FileInfo, _ int64) int64 { return info.Size() }

func datasync(f *os.File) error { return f.Sync() }
