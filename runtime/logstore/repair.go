package logstore

import (
	"fmt"
	"os"
	"path/filepath"
)

// Repair gives the bytes that have no record, because the writer was killed
// between the two or the index is lost, a record with their file's time. Readers
// do the same by themselves; after Repair it survives a copy of the files. Call
// it only when nobody writes. A log that needs nothing is not touched, and a
// folder without a log is no error.
func Repair(dir string) error {
	a, err := openAttempt(0, dir, true)
	if err != nil {
		return err
	}
	defer a.close()
	x := &a.index
	if x.bad != "" {
		return fmt.Errorf("repair log: %s", x.bad)
	}
	if len(x.extra) == 0 {
		return nil
	}
	name := filepath.Join(dir, IndexFile)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("repair log: %w", err)
	}
	b := make([]byte, (1+len(x.extra))*recordSize)
	x.head.encode(b)
	for i, r := range x.extra {
		r.encode(b[(1+i)*recordSize:])
	}
	if _, err = f.WriteAt(b[:recordSize], 0); err == nil {
		_, err = f.WriteAt(b[recordSize:], (x.n+1)*recordSize)
	}
	if cerr := closeFile(f, true); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("repair log: %w", err)
	}
	return nil
}
