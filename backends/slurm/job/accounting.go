package job

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// accounted is a job in the output of sacct.
type accounted struct {
	ID        number          `json:"job_id"`
	Name      text            `json:"name"`
	User      text            `json:"user"`
	Account   text            `json:"account"`
	Partition text            `json:"partition"`
	QOS       text            `json:"qos"`
	WorkDir   text            `json:"working_directory"`
	StdOut    text            `json:"stdout_expanded"`
	StdErr    text            `json:"stderr_expanded"`
	Comment   json.RawMessage `json:"comment"` // a text, since 21.08 an object
	Nodes     text            `json:"nodes"`
	Failed    text            `json:"failed_node"`
	Exit      Exit            `json:"exit_code"`
	Derived   Exit            `json:"derived_exit_code"`
	KilledBy  text            `json:"kill_request_user"`
	Restarts  number          `json:"restart_cnt"`
	Het       struct {
		ID     number `json:"job_id"`
		Offset number `json:"job_offset"`
	} `json:"het"`
	Array struct {
		ID     number `json:"job_id"`
		TaskID number `json:"task_id"`
		Task   text   `json:"task"`
	} `json:"array"`
	State struct {
		Current words `json:"current"`
		Reason  text  `json:"reason"`
	} `json:"state"`
	Time struct {
		Start      number `json:"start"`
		End        number `json:"end"`
		Submission number `json:"submission"`
		Eligible   number `json:"eligible"`
		Limit      number `json:"limit"`
	} `json:"time"`
	Reservation struct {
		Name text `json:"name"`
	} `json:"reservation"`
	Steps []step `json:"steps"`
}

// step is a step in the output of sacct.
type step struct {
	Step struct {
		Name text `json:"name"`
	} `json:"step"`
	State words `json:"state"`
	Exit  Exit  `json:"exit_code"`
	Nodes struct {
		List words `json:"list"`
	} `json:"nodes"`
	Time struct {
		End number `json:"end"`
	} `json:"time"`
}

// ParseAccounting reads the output of `sacct --json`.
func ParseAccounting(data []byte) (jobs []Job, err error) {
	err = decode("sacct --json", data, func(a *accounted) {
		if a.ID.N > 0 {
			jobs = append(jobs, a.job())
		}
	})
	return jobs, err
}

func (a *accounted) job() Job {
	j := Job{
		ID: a.ID.N, Name: string(a.Name), User: string(a.User), UserID: -1,
		Account: string(a.Account), Partition: string(a.Partition), QOS: string(a.QOS), Reservation: string(a.Reservation.Name),
		Comment: commentOf(a.Comment), WorkDir: string(a.WorkDir), StdOut: string(a.StdOut), StdErr: string(a.StdErr),
		Exit: a.Exit, Derived: a.Derived, KilledBy: string(a.KilledBy), Restarts: int(a.Restarts.N),
		Submitted: a.Time.Submission.time(), Eligible: a.Time.Eligible.time(), Started: a.Time.Start.time(), Ended: a.Time.End.time(),
		TimeLimit: a.Time.Limit.minutes(), Nodes: ExpandHosts(string(a.Nodes)), FailedNode: string(a.Failed),
	}
	if a.Het.ID.N > 0 && a.Het.ID.N < noValue {
		j.Het = Het{a.Het.ID.N, int(a.Het.Offset.N)}
	}
	if a.Array.ID.N > 0 && a.Array.ID.N < noValue {
		j.Array = Array{a.Array.ID.N, string(a.Array.Task)}
		if a.Array.TaskID.Set && a.Array.TaskID.N < noValue {
			j.Array.Task = strconv.FormatInt(a.Array.TaskID.N, 10)
		}
	}
	j.setState(a.State.Current)
	j.setReason(string(a.State.Reason), "")
	for _, s := range a.Steps {
		j.Steps = append(j.Steps, s.step())
	}
	return j
}

func (s *step) step() Step {
	var probe Job
	probe.setState(s.State)
	return Step{
		Name: string(s.Step.Name), Status: probe.Status, Exit: s.Exit,
		Nodes: ExpandHosts(strings.Join(s.Nodes.List, ",")), Ended: s.Time.End.time(),
	}
}

// commentOf returns the comment of a job in either form.
func commentOf(data json.RawMessage) string {
	var o struct {
		Job text `json:"job"`
	}
	if json.Unmarshal(data, &o) == nil {
		return string(o.Job)
	}
	var t text
	_ = t.UnmarshalJSON(data)
	return string(t)
}

// reply is what a command prints with --json.
type reply[T any] struct {
	Jobs   []json.RawMessage
	Errors []struct {
		Error       text
		Description text
	}
}

// decode reads the jobs of a reply. Errors: the text is not such a reply, or Slurm reports an
// error instead of jobs.
func decode[T any](command string, data []byte, each func(*T)) error {
	var r reply[T]
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%s printed something that is not JSON: %w", command, err)
	}
	if len(r.Jobs) == 0 { // a command that fails can exit with 0
		for _, e := range r.Errors {
			if s := string(e.Description); s != "" || e.Error != "" {
				text := strings.TrimSpace(string(e.Error) + " " + s)
				return fmt.Errorf("%s: an error of Slurm: %s", command, text)
			}
		}
	}
	if r.Jobs == nil {
		return fmt.Errorf("%s printed JSON without jobs", command)
	}
	for _, raw := range r.Jobs {
		var v *T
		if json.Unmarshal(raw, &v) == nil && v != nil {
			each(v)
		}
	}
	return nil
}
