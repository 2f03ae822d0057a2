// Package folder reads and writes the folder of an app: what was submitted, and what the
// launcher inside the allocation records. It is on a file system that login nodes and compute
// nodes share, so any login node can tell the state of the app from it, also without accounting.
//
//	plan.json                            what was submitted, see Record
//	script.sh                            the batch script, as submitted
//	launch.sh                            the same script, copied by itself, for the replicas
//	job                                  ID of the job, written by Submit and by the launcher
//	cancel                               exists: a cancel was requested, and nothing restarts; its reason, or nothing
//	events                               of the app: "begin TIME JOB RESTART", "restart TIME ROLE REPLICA ATTEMPT RETRY",
//	                                     "end TIME STATE CODE"
//	slurm.out                            messages of the launcher and of srun
//	output/                              files that replicas wrote, $TORCHX_OUTPUT
//	replicas/<role>/<n>/events           "start ATTEMPT TIME HOST PID", "memory ATTEMPT TIME BYTES SOURCE",
//	                                     "exit ATTEMPT TIME CODE HOW"
//	replicas/<role>/<n>/<attempt>/       the log (package logstore) and error.json
//
// TIME is a Unix time in seconds with a fraction.
package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names in a folder.
const (
	PlanFile   = "plan.json"
	ScriptFile = "script.sh"
	LaunchFile = "launch.sh"
	JobFile    = "job"
	CancelFile = "cancel"
	EventsFile = "events"
	OutputFile = "slurm.out"
	OutputDir  = "output"
	ErrorFile  = "error.json"
)

const (
	maxPlan   = 64 << 20
	maxEvents = 16 << 20
)

// Folder is the folder of an app.
type Folder string

// Record is what was submitted.
type Record struct {
	Version     int             `json:"version"`
	ID          string          `json:"id"`
	App         *spec.App       `json:"app"`
	Cfg         backend.Config  `json:"cfg"`
	Request     json.RawMessage `json:"request"`
	Component   string          `json:"component,omitempty"`
	Args        []string        `json:"args,omitempty"`
	History     json.RawMessage `json:"history,omitempty"`
	SubmittedAt time.Time       `json:"submitted_at"`
	// After are the apps whose jobs must end first.
	After []backend.After `json:"after,omitempty"`
}

// Origin is what the history's record tells of the app beside its plan.
type Origin struct {
	ParentRunID string `json:"parent_run_id,omitempty"`
	RerunOf     string `json:"rerun_of,omitempty"`
	User        string `json:"user,omitempty"` // who submitted the app
	history.Labels
}

// Origin returns what the history's record tells; nothing if there is none.
func (r *Record) Origin() (o Origin) {
	_ = json.Unmarshal(r.History, &o) // an older or newer form tells nothing
	return o
}

// Record reads plan.json. Errors: fs.ErrNotExist.
func (f Folder) Record() (*Record, error) {
	data, err := safefile.ReadFile(f.Path(PlanFile), maxPlan)
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil || r.App == nil {
		return nil, fmt.Errorf("read %s: it is damaged (%w)", f.Path(PlanFile),
			errors.Join(err, fs.ErrInvalid))
	}
	return r, nil
}

// Path returns the path of a file.
func (f Folder) Path(name string) string { return filepath.Join(string(f), name) }

// Replica returns the folder of a replica, Attempt that of one of its attempts.
func (f Folder) Replica(r spec.Replica) string { return logstore.ReplicaDir(string(f), r) }

// Attempt returns the folder of an attempt's log.
func (f Folder) Attempt(r spec.Replica, attempt int) string {
	return logstore.AttemptDir(string(f), r, attempt)
}

// maxMessages bounds what Messages returns, in bytes.
const maxMessages = 256 << 10

// Messages returns the end of what the launcher and srun printed, "" if that cannot be read.
func (f Folder) Messages() string {
	file, err := os.Open(f.Path(OutputFile))
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, _ := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-maxMessages), maxMessages))
	return string(data)
}

// Exists reports whether the app has a folder on this machine.
func (f Folder) Exists() bool {
	_, err := os.Stat(f.Path(PlanFile))
	return err == nil
}

// Job returns the ID of the job; ok is false if it is not known yet.
func (f Folder) Job() (id int64, ok bool) {
	data, err := safefile.ReadFile(f.Path(JobFile), 64)
	if err != nil {
		return 0, false
	}
	id, err = strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return id, err == nil && id > 0
}

// SetJob records the ID of the job.
func (f Folder) SetJob(id int64) error {
	tmp := f.Path("." + JobFile)
	if err := safefile.WriteFile(tmp, []byte(strconv.FormatInt(id, 10)+"\n")); err != nil {
		return err
	}
	return os.Rename(tmp, f.Path(JobFile))
}

// Cancelled reports whether a cancel was requested.
func (f Folder) Cancelled() bool {
	_, err := os.Stat(f.Path(CancelFile))
	return err == nil
}

// CancelReason returns why a cancel was requested, "" if nothing is known.
func (f Folder) CancelReason() string {
	data, err := safefile.ReadFile(f.Path(CancelFile), maxReason)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.ToValidUTF8(string(data), "?"), "\n")
	return line
}

// maxReason bounds the reason of a cancel, in bytes.
const maxReason = 4096

// Cancel requests a cancel, with a reason or "": the launcher restarts nothing any more, and
// starts nothing if it has not begun. The first request counts.
func (f Folder) Cancel(reason string) error {
	file, err := os.OpenFile(f.Path(CancelFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if reason != "" {
		reason, _, _ = strings.Cut(reason, "\n")
		_, err = file.WriteString(reason[:min(len(reason), maxReason-1)] + "\n")
	}
	return errors.Join(err, file.Sync(), file.Close())
}
