package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reply is what a command prints with --json.
type reply[T any] struct {
	Jobs   []json.RawMessage
	Errors []struct {
		Error       text
		Description text
	}
}

// ErrReported means that Slurm printed an error instead of jobs.
var ErrReported = errors.New("Slurm reports an error")

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
				return fmt.Errorf("%s: %w: %s", command, ErrReported, strings.TrimSpace(string(e.Error)+" "+s))
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

// queued is a job in the output of squeue.
type queued struct {
	ID           number `json:"job_id"`
	HetID        number `json:"het_job_id"`
	HetOffset    number `json:"het_job_offset"`
	ArrayID      number `json:"array_job_id"`
	ArrayTask    number `json:"array_task_id"`
	ArrayTasks   text   `json:"array_task_string"`
	Name         text   `json:"name"`
	User         text   `json:"user_name"`
	UserID       number `json:"user_id"`
	Account      text   `json:"account"`
	Partition    text   `json:"partition"`
	QOS          text   `json:"qos"`
	Reservation  text   `json:"resv_name"`
	Dependency   text   `json:"dependency"`
	Comment      text   `json:"comment"`
	WorkDir      text   `json:"current_working_directory"`
	Command      text   `json:"command"`
	StdOut       text   `json:"standard_output"`
	StdErr       text   `json:"standard_error"`
	State        words  `json:"job_state"`
	Reason       text   `json:"state_reason"`
	Detail       text   `json:"state_description"`
	Exit         Exit   `json:"exit_code"`
	Derived      Exit   `json:"derived_exit_code"`
	Restarts     number `json:"restart_cnt"`
	SubmitTime   number `json:"submit_time"`
	EligibleTime number `json:"eligible_time"`
	StartTime    number `json:"start_time"`
	EndTime      number `json:"end_time"`
	TimeLimit    number `json:"time_limit"`
	Nodes        text   `json:"nodes"`
	Scheduled    text   `json:"scheduled_nodes"`
	FailedNode   text   `json:"failed_node"`
	Tasks        number `json:"tasks"`

	Resources json.RawMessage `json:"job_resources"`
}

// ParseQueue reads the output of `squeue --json` or `scontrol show job --json`.
func ParseQueue(data []byte) (jobs []Job, err error) {
	err = decode("squeue --json", data, func(q *queued) {
		if q.ID.N > 0 {
			jobs = append(jobs, q.job())
		}
	})
	return jobs, err
}

func (q *queued) job() Job {
	j := Job{
		ID: q.ID.N, Name: string(q.Name), User: string(q.User), UserID: q.UserID.or(-1),
		Account: string(q.Account), Partition: string(q.Partition), QOS: string(q.QOS),
		Reservation: string(q.Reservation), Dependency: string(q.Dependency),
		Comment: string(q.Comment), WorkDir: string(q.WorkDir), Command: string(q.Command),
		StdOut: string(q.StdOut), StdErr: string(q.StdErr),
		Exit: q.Exit, Derived: q.Derived, Restarts: int(q.Restarts.N), Tasks: int(q.Tasks.N),
		Submitted: q.SubmitTime.time(), Eligible: q.EligibleTime.time(), Started: q.StartTime.time(), Ended: q.EndTime.time(),
		TimeLimit: q.TimeLimit.minutes(), FailedNode: string(q.FailedNode),
	}
	if q.HetID.N > 0 && q.HetID.N < noValue {
		j.Het = Het{q.HetID.N, int(q.HetOffset.N)}
	}
	if q.ArrayID.N > 0 && q.ArrayID.N < noValue {
		j.Array = Array{q.ArrayID.N, string(q.ArrayTasks)}
		if q.ArrayTask.Set && q.ArrayTask.N < noValue {
			j.Array.Task = strconv.FormatInt(q.ArrayTask.N, 10)
		}
	}
	j.setState(q.State)
	j.setReason(string(q.Reason), string(q.Detail))
	j.Nodes = hosts(string(q.Nodes), q.Resources, string(q.Scheduled))
	return j
}

// hosts returns the nodes of a job from the first source that has some.
func hosts(list string, resources json.RawMessage, scheduled string) []string {
	for _, names := range [][]string{ExpandHosts(list), allocated(resources), ExpandHosts(scheduled)} {
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// allocated returns the nodes in job_resources, which is null while a job waits. Its nodes are a
// text until 24.05, then an object with a text and a list. Before 22.05, allocated_nodes is an
// object of nodes by number, later a list.
func allocated(data json.RawMessage) []string {
	var r struct {
		Nodes     json.RawMessage `json:"nodes"`
		Allocated json.RawMessage `json:"allocated_nodes"`
		Scheduled text            `json:"scheduled_nodes"`
	}
	if json.Unmarshal(data, &r) != nil {
		return nil
	}
	var list text
	_ = list.UnmarshalJSON(r.Nodes)
	if names := ExpandHosts(string(list)); len(names) > 0 {
		return names
	}
	var o struct {
		List       text        `json:"list"`
		Allocation []allocNode `json:"allocation"`
	}
	if json.Unmarshal(r.Nodes, &o) == nil {
		if names := namesOf(o.Allocation); len(names) > 0 {
			return names
		}
		if names := ExpandHosts(string(o.List)); len(names) > 0 {
			return names
		}
	}
	var nodes []allocNode
	if json.Unmarshal(r.Allocated, &nodes) != nil {
		var byNumber map[string]allocNode
		_ = json.Unmarshal(r.Allocated, &byNumber) // other forms have no names
		for _, n := range byNumber {
			nodes = append(nodes, n)
		}
		slices.SortFunc(nodes, func(a, b allocNode) int { return strings.Compare(string(a.Nodename), string(b.Nodename)) })
	}
	if names := namesOf(nodes); len(names) > 0 {
		return names
	}
	return ExpandHosts(string(r.Scheduled))
}

// allocNode is a node with a part of it that a job has.
type allocNode struct {
	Name     text `json:"name"`
	Nodename text `json:"nodename"`
}

func namesOf(nodes []allocNode) (names []string) {
	for _, n := range nodes {
		if n.Nodename != "" {
			n.Name = n.Nodename
		}
		if n.Name != "" {
			names = append(names, string(n.Name))
		}
	}
	return names
}
