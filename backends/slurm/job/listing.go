package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Marks in the output of `squeue --Format`: after a value comes the name of its field, so that
// fields which a version lacks are missing instead of moving the others.
const (
	valueEnd = "\x1f"
	fieldEnd = "\x1e"
)

// listed maps fields of `squeue --Format` to those of `scontrol show job`.
var listed = [][2]string{
	{"JobID", "JobId"},
	{"HetJobID", "HetJobId"},
	{"HetJobOffset", "HetJobOffset"},
	{"ArrayJobID", "ArrayJobId"},
	{"ArrayTaskID", "ArrayTaskId"},
	{"Name", "JobName"},
	{"UserName", userField},
	{"UserID", userIDField},
	{"Account", "Account"},
	{"Partition", "Partition"},
	{"QOS", "QOS"},
	{"Reservation", "Reservation"},
	{"Dependency", "Dependency"},
	{"Comment", "Comment"},
	{"WorkDir", "WorkDir"},
	{"Command", "Command"},
	{"StdOut", "StdOut"},
	{"StdErr", "StdErr"},
	{"State", "JobState"},
	{"Reason", "Reason"},
	{"exit_code", "ExitCode"},
	{"RestartCnt", "Restarts"},
	{"SubmitTime", "SubmitTime"},
	{"EligibleTime", "EligibleTime"},
	{"StartTime", "StartTime"},
	{"EndTime", "EndTime"},
	{"TimeLimit", "TimeLimit"},
	{"NodeList", "NodeList"},
	{"SchedNodes", "SchedNodeList"},
	{"NumTasks", "NumTasks"},
}

const (
	idField     = "JobId"
	userField   = "UserId"
	userIDField = "UserNumber"
)

// ListingFormat returns the value of `squeue --Format` that ParseListing expects. The size 0
// prints values whole.
func ListingFormat() string {
	fields := make([]string, len(listed))
	for i, f := range listed {
		fields[i] = f[0] + ":0" + valueEnd + f[1] + fieldEnd
	}
	return strings.Join(fields, ",")
}

// ParseListing reads the output of `squeue --noheader` with ListingFormat, with times in loc. It is
// much faster than --json, which prints all users' jobs before 23.02.
func ParseListing(data string, loc *time.Location) (jobs []Job, err error) {
	var fields map[string]string
	end := func() {
		if fields != nil {
			jobs = append(jobs, listedJob(fields, loc))
		}
	}
	rest := data
	for {
		field, after, ok := strings.Cut(rest, fieldEnd)
		value, key, named := strings.Cut(field, valueEnd)
		if !ok || !named || key != idField && fields == nil {
			break
		}
		if rest = after; key == idField {
			end()
			fields, value = map[string]string{}, strings.TrimLeft(value, "\n")
		}
		fields[key] = value
	}
	end()
	if rest = strings.TrimSpace(rest); rest != "" {
		return nil, fmt.Errorf("squeue printed %.100q instead of jobs", rest)
	}
	return jobs, nil
}

// listedJob makes a job of fields in the form of `scontrol show job`.
func listedJob(f map[string]string, loc *time.Location) Job {
	f[userField] = f[userField] + "(" + f[userIDField] + ")"
	f["Reason"] = strings.ReplaceAll(f["Reason"], " ", "_")
	if plain(f["ArrayTaskId"]) == "" { // other jobs are printed as arrays of themselves
		delete(f, "ArrayJobId")
	}
	status, err := strconv.Atoi(f["ExitCode"])
	j := textJob(f, loc)
	j.Exit = Exit{}
	if err == nil {
		j.Exit = waitStatus(int64(status))
	}
	return j
}
