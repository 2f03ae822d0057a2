package outputs

import (
	"errors"
	"io"
	"os"
	"slices"
)

const (
	// maxNames bounds the names of one folder that are held at once. A folder with more is
	// read several times.
	maxNames = 1 << 18
	// readSize is how many names are read at once.
	readSize = 4096
)

// eachName calls visit with the names in a folder, in their order.
func eachName(root *os.Root, visit func(name string) error) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return inOrder(dir, maxNames, visit)
}

func isEmpty(root *os.Root) (bool, error) {
	dir, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// nameReader is a folder that can be read from the start again.
type nameReader interface {
	Readdirnames(n int) ([]string, error)
	io.Seeker
}

// inOrder calls visit with the names in a folder, in their order, and holds at most twice
// limit of them: each pass finds the smallest that follow the last one.
func inOrder(dir nameReader, limit int, visit func(name string) error) error {
	for after, more := "", true; more; {
		var names []string
		var err error
		if names, more, err = smallest(dir, limit, after); err != nil {
			return err
		}
		for _, name := range names {
			if err := visit(name); err != nil {
				return err
			}
			after = name
		}
	}
	return nil
}

// smallest returns the limit smallest names greater than after, in their order. more means
// that there are greater ones.
func smallest(dir nameReader, limit int, after string) (names []string, more bool, err error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, false, err
	}
	cut := func() {
		slices.Sort(names)
		if len(names) > limit {
			clear(names[limit:])
			names, more = names[:limit], true
		}
	}
	for {
		read, err := dir.Readdirnames(readSize)
		for _, name := range read {
			if name <= after || more && name > names[limit-1] {
				continue
			}
			if names = append(names, name); len(names) == 2*limit {
				cut()
			}
		}
		if errors.Is(err, io.EOF) {
			cut()
			return names, more, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}
