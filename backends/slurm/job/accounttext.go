package job

import (
	"strconv"
	"strings"
	"time"
)

// AccountingFields lists the fields that ParseAccountingText expects, for `sacct --format`. All
// versions have them. The last ones may contain anything.
const AccountingFields = "JobIDRaw,JobID,User,Account,Partition,QOS,State,ExitCode,DerivedExitCode,Submit,Eligible,Start,End,Timelimit,NodeList,Reason,JobName,WorkDir,Comment"

// Delimiter separates the fields, for `sacct --delimiter`.
const Delimiter = "\x1f"

// ParseAccountingText reads the output of `sacct --parsable2 --noheader` with AccountingFields and
// Delimiter, with times in loc. It skips steps and lines of another form.
func ParseAccountingText(data string, loc *time.Location) (jobs []Job) {
	want := strings.Split(AccountingFields, ",")
	for line := range strings.Lines(data) {
		values := strings.Split(strings.TrimRight(line, "\n"), Delimiter)
		if len(values) != len(want) {
			continue
		}
		f := map[string]string{}
		for i, name := range want {
			f[name] = plain(values[i])
		}
		id, err := strconv.ParseInt(f["JobIDRaw"], 10, 64)
		if err != nil { // a step such as 17.batch
			continue
		}
		j := Job{
			ID: id, Name: f["JobName"], User: f["User"], UserID: -1, Account: f["Account"], Partition: f["Partition"], QOS: f["QOS"],
			WorkDir: f["WorkDir"], Comment: f["Comment"], Exit: parseExit(f["ExitCode"]), Derived: parseExit(f["DerivedExitCode"]),
			Submitted: textTime(f["Submit"], loc), Eligible: textTime(f["Eligible"], loc), Started: textTime(f["Start"], loc), Ended: textTime(f["End"], loc),
			TimeLimit: textDuration(f["Timelimit"]), Nodes: ExpandHosts(f["NodeList"]),
		}
		j.setPlace(f["JobID"])
		j.setState([]string{f["State"]})
		j.setReason(f["Reason"], "")
		jobs = append(jobs, j)
	}
	return jobs
}

// setPlace reads the place of a job from its ID: 17+1 is a component, 17_3 and 17_[4-9] are
// tasks of an array.
func (j *Job) setPlace(id string) {
	if leader, offset, ok := strings.Cut(id, "+"); ok {
		j.Het.Leader, _ = strconv.ParseInt(leader, 10, 64) // 0 if it is none
		j.Het.Offset, _ = strconv.Atoi(offset)
	}
	if array, task, ok := strings.Cut(id, "_"); ok {
		j.Array.ID, _ = strconv.ParseInt(array, 10, 64) // 0 if it is none
		j.Array.Task = strings.Trim(task, "[]")
	}
}
