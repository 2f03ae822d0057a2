package sweep

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/safefile"
	"torchx/runtime/sweep"
)

// Names of the files that a bundle has besides those of runtime/agent.
const (
	trialsName  = "trials.jsonl"
	journalName = "journal.jsonl"
)

// writeTrials adds the file of trials to a new bundle.
func writeTrials(dir string, trials []sweep.Trial) error {
	f, err := safefile.OpenFile(filepath.Join(dir, trialsName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = encode(w, trials)
	if err = errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", trialsName, err)
	}
	return nil
}

// encode writes one line for each trial.
func encode(w io.Writer, trials []sweep.Trial) error {
	e := json.NewEncoder(w)
	for i := range trials {
		if err := e.Encode(&trials[i]); err != nil {
			return err
		}
	}
	return nil
}

// trialFile reads the trials of a sweep. Only the places of the trials are kept in memory.
type trialFile struct {
	file *os.File
	ends []int64 // where the line of each trial ends
}

// openTrials opens the trials of a bundle. A last line that is cut short does not count.
func openTrials(dir string) (*trialFile, error) {
	f, err := safefile.Open(filepath.Join(dir, trialsName))
	if err != nil {
		return nil, err
	}
	t := &trialFile{file: f}
	var at int64
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		for chunk := buf[:n]; ; {
			i := bytes.IndexByte(chunk, '\n')
			if i < 0 {
				at += int64(len(chunk))
				break
			}
			at += int64(i) + 1
			t.ends, chunk = append(t.ends, at), chunk[i+1:]
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", trialsName, err), f.Close())
		}
	}
}

// end returns where the line of a trial ends; that of -1 is 0.
func (t *trialFile) end(number int) int64 {
	if number < 0 {
		return 0
	}
	return t.ends[number]
}

// read decodes the line of a trial into v, which may have only some of its fields.
func (t *trialFile) read(number int, v any) error {
	if number >= len(t.ends) {
		return fmt.Errorf("%s has no trial %d: the file was changed", trialsName, number)
	}
	from := t.end(number - 1)
	line := make([]byte, t.end(number)-from)
	if _, err := t.file.ReadAt(line, from); err != nil {
		return fmt.Errorf("read %s: %w", trialsName, err)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("read trial %d: %w", number, err)
	}
	return nil
}

// trial returns a trial with its app.
func (t *trialFile) trial(number int) (*sweep.Trial, error) {
	v := &sweep.Trial{}
	err := t.read(number, v)
	if err == nil && v.App == nil {
		err = fmt.Errorf("trial %d in %s has no app", number, trialsName)
	}
	if err == nil {
		err = v.App.CheckLimits()
	}
	return v, err
}

func (t *trialFile) Close() error { return t.file.Close() }

// journal appends events to the journal of a bundle.
type journal struct {
	file *os.File
	cut  bool // the last write failed: the file may end in a partial line
}

func openJournal(dir string) (*journal, error) {
	f, err := safefile.OpenFile(filepath.Join(dir, journalName),
		os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &journal{file: f}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		_, err = f.ReadAt(last, info.Size()-1)
		j.cut = err != nil || last[0] != '\n'
	}
	return j, nil
}

// append writes events with one write. They survive a kill of this process; with sync they
// survive a power cut.
func (j *journal) append(sync bool, events ...sweep.Event) error {
	var data []byte
	if j.cut {
		data = append(data, '\n')
	}
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		data = append(append(data, line...), '\n')
	}
	_, err := j.file.Write(data)
	if j.cut = err != nil; err == nil && sync {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

func (j *journal) Close() error { return errors.Join(j.file.Sync(), j.file.Close()) }

// replay applies the journal of a bundle to a machine. Lines that a crash cut short, and events
// that do not fit, are skipped.
func replay(dir string, m *sweep.Machine) error {
	f, err := safefile.Open(filepath.Join(dir, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		var e sweep.Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			_ = m.Apply(e) // see above
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return nil
}
