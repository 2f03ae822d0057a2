package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// How an attempt ended, the last word of its exit.
const (
	HowExited   = "exited"   // by itself
	HowStopped  = "stopped"  // by the launcher: another replica failed, or the app was cancelled
	HowSignaled = "signaled" // by SIGTERM that the launcher did not send
	HowLost     = "lost"     // with its node, or when the job was preempted
)

// Run is what the launcher recorded of an app.
type Run struct {
	Begins   []Begin // starts of the job, oldest first: the first one and those after a requeue
	End      *End    // nil: the launcher has not ended, or was killed
	Restarts []spec.Restart
	Replicas map[spec.Replica][]Attempt // that have started, by attempt
}

// Begin is a start of the job.
type Begin struct {
	Time    time.Time
	Job     int64
	Restart int // SLURM_RESTART_COUNT
}

// End is the result that the launcher recorded.
type End struct {
	Time  time.Time
	State spec.State
	Code  int
}

// Attempt is one attempt of a replica.
type Attempt struct {
	Number int
	Start  time.Time
	Host   string
	PID    int
	Memory *Memory // nil: unknown
	Exit   *Exit   // nil: it runs, or its end was not recorded
}

// Memory is the largest memory that an attempt used.
type Memory struct {
	Bytes  int64
	Source string // of package sample
}

// Exit is the end of an attempt.
type Exit struct {
	Time time.Time
	Code int // 128+n for signal n
	How  string
}

// parallel bounds the files that are read concurrently: a shared file system answers slowly.
const parallel = 16

// Run reads the records of the launcher. Replicas that have not started are missing. Lines that
// are cut off, because a node died while it wrote them, are ignored.
func (f Folder) Run(app *spec.App) (*Run, error) {
	r := &Run{Replicas: map[spec.Replica][]Attempt{}}
	lines, err := events(f.Path(EventsFile))
	if err != nil {
		return nil, err
	}
	for _, w := range lines {
		r.add(w)
	}
	if len(r.Begins) == 0 {
		return r, nil
	}
	var all []spec.Replica
	for i := range app.Roles {
		for id := range app.Roles[i].NumReplicas {
			all = append(all, spec.Replica{Role: app.Roles[i].Name, ID: id})
		}
	}
	attempts, errs := make([][]Attempt, len(all)), make([]error, len(all))
	var jobs sync.WaitGroup
	for n := range parallel {
		jobs.Go(func() {
			for i := n; i < len(all); i += parallel {
				attempts[i], errs[i] = f.AttemptsOf(all[i])
			}
		})
	}
	jobs.Wait()
	for i, list := range attempts {
		if len(list) > 0 {
			r.Replicas[all[i]] = list
		}
	}
	r.explainRestarts(app)
	return r, errors.Join(errs...)
}

// explainRestarts completes the restarts with what the app and the attempts tell.
func (r *Run) explainRestarts(app *spec.App) {
	for i := range r.Restarts {
		restart := &r.Restarts[i]
		for j := range app.Roles {
			if role := &app.Roles[j]; safefile.Escape(role.Name) == restart.Role {
				restart.Role, restart.Policy, restart.MaxRetries = role.Name, role.RetryPolicy, role.MaxRetries
				break
			}
		}
		for _, a := range r.Replicas[spec.Replica{Role: restart.Role, ID: restart.Replica}] {
			if a.Number == restart.Attempt && a.Exit != nil {
				restart.ExitCode, restart.Signal = &a.Exit.Code, spec.SignalName(a.Exit.Code)
			}
		}
	}
}

// Attempts returns how many attempts of a replica have begun.
func (f Folder) Attempts(r spec.Replica) (int, error) {
	list, err := f.AttemptsOf(r)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[len(list)-1].Number + 1, nil
}

func (r *Run) add(w []string) {
	t, ok := parseTime(w[1:])
	if !ok {
		return
	}
	switch {
	case w[0] == "begin" && len(w) == 4:
		job, _ := strconv.ParseInt(w[2], 10, 64)
		restart, _ := strconv.Atoi(w[3])
		r.Begins, r.End = append(r.Begins, Begin{t, job, restart}), nil
	case w[0] == "restart" && len(w) == 6:
		restart := spec.Restart{Time: t, Role: w[2]}
		restart.Replica, _ = strconv.Atoi(w[3]) // none: srun could not start the role
		restart.Attempt, _ = strconv.Atoi(w[4])
		restart.Retry, _ = strconv.Atoi(w[5])
		r.Restarts = append(r.Restarts, restart)
	case w[0] == "end" && len(w) == 4:
		state, code := spec.Failed, 1
		switch w[2] {
		case "SUCCEEDED":
			state = spec.Succeeded
		case "CANCELLED":
			state = spec.Cancelled
		}
		if n, err := strconv.Atoi(w[3]); err == nil {
			code = n
		}
		r.End = &End{t, state, code}
	}
}

// AttemptsOf returns the attempts of a replica that have begun.
func (f Folder) AttemptsOf(r spec.Replica) ([]Attempt, error) {
	lines, err := events(f.Replica(r) + "/" + EventsFile)
	if err != nil {
		return nil, err
	}
	var list []Attempt
	for _, w := range lines {
		if len(w) == 5 && w[0] == memoryEvent {
			addMemory(list, w)
		}
		if len(w) != 5 {
			continue
		}
		n, err := strconv.Atoi(w[1])
		t, ok := parseTime(w[2:])
		if err != nil || !ok {
			continue
		}
		switch i := slices.IndexFunc(list, func(a Attempt) bool { return a.Number == n }); {
		case w[0] == "start" && i < 0:
			pid, _ := strconv.Atoi(w[4])
			list = append(list, Attempt{Number: n, Start: t, Host: w[3], PID: pid})
		case w[0] == "exit" && i >= 0 && list[i].Exit == nil:
			code, _ := strconv.Atoi(w[3])
			list[i].Exit = &Exit{t, code, w[4]}
		}
	}
	slices.SortFunc(list, func(a, b Attempt) int { return cmp.Compare(a.Number, b.Number) })
	return list, nil
}

// memoryEvent begins a line of a replica's events: "memory ATTEMPT TIME BYTES SOURCE".
const memoryEvent = "memory"

// NoteMemory records the largest memory of an attempt.
func (f Folder) NoteMemory(r spec.Replica, attempt int, bytes int64, source string) error {
	file, err := os.OpenFile(filepath.Join(f.Replica(r), EventsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%s %d %d %d %s\n", memoryEvent, attempt,
		time.Now().Unix(), bytes, source)
	return errors.Join(err, file.Close())
}

func addMemory(list []Attempt, w []string) {
	for i := range list {
		bytes, err := strconv.ParseInt(w[3], 10, 64)
		if strconv.Itoa(list[i].Number) == w[1] && err == nil && bytes > 0 {
			list[i].Memory = &Memory{bytes, w[4]}
		}
	}
}

// events returns the words of each complete line of a file; none if it does not exist.
func events(path string) ([][]string, error) {
	data, err := safefile.ReadFile(path, maxEvents)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all [][]string
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) >= 2 && strings.HasSuffix(line, "\n") {
			all = append(all, words)
		}
	}
	return all, nil
}

// parseTime reads a Unix time from the first word.
func parseTime(words []string) (time.Time, bool) {
	if len(words) == 0 {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(words[0], 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > 1<<40 {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC(), true
}
