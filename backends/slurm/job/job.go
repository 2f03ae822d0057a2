// Package job reads what Slurm's commands print about jobs, in the forms of Slurm 20.11 and
// later: ParseListing reads `squeue --Format`, ParseText `scontrol show job`, ParseAccounting
// `sacct --json` and ParseAccountingText `sacct --format`. All return a Job, whose State, Waits and
// Why tell in torchx's words what Slurm says. It runs no command and has no clock, so it can be
// tested with recorded output.
//
// Between versions, the same field is a string or a list, a number or an object {set, infinite,
// number}, absent or null. Fields of an unknown form are ignored: a job is better known in part
// than not at all.
package job

import (
	"strconv"
	"strings"
	"time"
)

// Job is one job of Slurm: an app of one role, a component of a heterogeneous job, or a task of
// an array.
type Job struct {
	ID     int64
	Het    Het
	Array  Array
	Name   string
	User   string
	UserID int64 // -1 if unknown

	Account, Partition, QOS string
	Reservation, Dependency string
	Comment, WorkDir        string
	Command                 string // path of the batch script
	StdOut, StdErr          string // paths of the batch script's output

	Status string   // the base state: PENDING, RUNNING, COMPLETED …; "" if unknown
	Flags  []string // of the state: COMPLETING, REQUEUED …
	Reason string   // why it waits or ended, without detail; "" if Slurm gives none
	Detail string   // the rest of the reason

	Exit     Exit // of the batch script
	Derived  Exit // the highest one of its steps
	KilledBy string
	Restarts int

	Submitted, Eligible *time.Time
	Started             *time.Time // of a job that waits, when Slurm expects it to start
	Ended               *time.Time // of a job that runs, when its time limit ends it
	TimeLimit           time.Duration
	Nodes               []string
	FailedNode          string
	Tasks               int
	Steps               []Step // only from accounting
}

// Het is the place of a component in its heterogeneous job; Leader is 0 for other jobs.
type Het struct {
	Leader int64
	Offset int
}

// Array is the place of a job in its array; ID is 0 for other jobs. Task is a number, or those of
// all tasks that wait, such as "3-7".
type Array struct {
	ID   int64
	Task string
}

// Step is one `srun` of a job, or its batch script.
type Step struct {
	Name   string
	Status string
	Exit   Exit
	Nodes  []string
	Ended  *time.Time
}

// Main returns the ID by which Slurm's commands find the job and those that belong to it.
func (j *Job) Main() int64 {
	switch {
	case j.Het.Leader > 0:
		return j.Het.Leader
	case j.Array.ID > 0:
		return j.Array.ID
	}
	return j.ID
}

// Groups returns jobs by Main: the components of a heterogeneous job and the tasks of an array
// belong together. The order of jobs is kept.
func Groups(jobs []Job) (order []int64, groups map[int64][]Job) {
	groups = map[int64][]Job{}
	for _, j := range jobs {
		id := j.Main()
		if groups[id] == nil {
			order = append(order, id)
		}
		groups[id] = append(groups[id], j)
	}
	return order, groups
}

// ParseID reads an ID as users and Slurm write it: 17, 17+1 (a component) or 17_3 (an array
// task). It returns the ID before the sign; ok is false for other text.
func ParseID(text string) (id int64, ok bool) {
	if i := strings.IndexAny(text, "+_"); i > 0 {
		if !isNumber(text[i+1:]) {
			return 0, false
		}
		text = text[:i]
	}
	if !isNumber(text) {
		return 0, false
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != "" && len(text) < 19
}
