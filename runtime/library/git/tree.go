package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kind is the type of an entry.
type Kind int

// The kinds of entries.
const (
	File      Kind = iota
	Symlink        // a symbolic link
	Submodule      // another repository, which is not fetched
	Folder         // its entries follow
)

// Entry is a file of a commit, a folder, or a special entry.
type Entry struct {
	Name string // slash-separated path, unchecked: it may be any text
	Kind Kind
	Size int64 // bytes
	id   string
}

// ErrNoFolder means that the commit has no folder with that path.
var ErrNoFolder = errors.New("no such folder")

// maxRecord bounds git's output for one entry in bytes: mode, type, ID, size and path.
const maxRecord = 16 << 10

// Entries calls visit with all entries of a folder ("" is the root) and below, and stops at
// visit's first error. Names are relative to the folder. A tree that occurs several times is
// visited each time, so even a small repository can have any number of entries. Error:
// ErrNoFolder.
func (r *Repository) Entries(ctx context.Context, folder string, visit func(Entry) error) error {
	tree := r.Commit
	if folder != "" {
		tree += ":" + folder
		kind, err := r.client.run(ctx, r.dir, "cat-file", "-t", tree)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || strings.TrimSpace(string(kind)) != "tree" {
			return ErrNoFolder
		}
	}
	cmd := r.client.command(ctx, r.dir, "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", tree)
	return r.client.stream(ctx, cmd, func(out *bufio.Reader) error { return readEntries(out, visit) })
}

// readEntries parses the output of git ls-tree -z.
func readEntries(out *bufio.Reader, visit func(Entry) error) error {
	records := bufio.NewScanner(out)
	records.Buffer(nil, maxRecord)
	records.Split(func(data []byte, _ bool) (int, []byte, error) {
		n := bytes.IndexByte(data, 0)
		if n < 0 {
			return 0, nil, nil // an incomplete record is dropped: git's exit code tells why
		}
		return n + 1, data[:n], nil
	})
	for records.Scan() {
		e, err := parseEntry(records.Text())
		if err == nil {
			err = visit(e)
		}
		if err != nil {
			return err
		}
	}
	if errors.Is(records.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("it has a path of over %d KiB", maxRecord>>10)
	}
	return records.Err()
}

// parseEntry parses "MODE TYPE ID SIZE\tNAME", the format of git ls-tree -l.
func parseEntry(record string) (Entry, error) {
	head, name, ok := strings.Cut(record, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 4 || !IsHash(fields[2]) {
		return Entry{}, fmt.Errorf("git ls-tree printed %q", record)
	}
	e := Entry{Name: name, id: fields[2]}
	switch {
	case fields[1] == "commit":
		e.Kind = Submodule
		return e, nil
	case fields[1] == "tree":
		e.Kind = Folder
		return e, nil
	case fields[1] != "blob":
		return Entry{}, fmt.Errorf("git ls-tree printed %q", record)
	case fields[0] == "120000":
		e.Kind = Symlink
	}
	var err error
	e.Size, err = strconv.ParseInt(fields[3], 10, 64)
	if err != nil || e.Size < 0 {
		return Entry{}, fmt.Errorf("git ls-tree printed %q", record)
	}
	return e, nil
}

// Read calls visit with the content of each entry, in order. visit may keep the content.
func (r *Repository) Read(
	ctx context.Context, entries []Entry, visit func(e Entry, data []byte) error,
) error {
	if len(entries) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, e := range entries {
		ids.WriteString(e.id + "\n")
	}
	cmd := r.client.command(ctx, r.dir, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(ids.String())
	return r.client.stream(ctx, cmd, func(out *bufio.Reader) error { return readBlobs(out, entries, visit) })
}

// readBlobs parses "ID blob SIZE\n", content, "\n" for each entry.
func readBlobs(in *bufio.Reader, entries []Entry, visit func(e Entry, data []byte) error) error {
	for _, e := range entries {
		head, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git cat-file ended before %q: %w", e.Name, err)
		}
		if want := fmt.Sprintf("%s blob %d\n", e.id, e.Size); head != want {
			return fmt.Errorf("git cat-file printed %q for %q", head, e.Name)
		}
		data := make([]byte, e.Size+1)
		if _, err := io.ReadFull(in, data); err != nil {
			return fmt.Errorf("git cat-file ended within %q: %w", e.Name, err)
		}
		if err := visit(e, data[:e.Size:e.Size]); err != nil {
			return err
		}
	}
	return nil
}
