package job

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseText reads the output of `scontrol show job` with or without -o. Times are in loc.
func ParseText(data string, loc *time.Location) (jobs []Job, err error) {
	var fields map[string]string
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "JobId=") {
			if fields != nil {
				jobs = append(jobs, textJob(fields, loc))
			}
			fields = map[string]string{}
		}
		if fields != nil {
			readFields(line, fields)
		}
	}
	if fields != nil {
		jobs = append(jobs, textJob(fields, loc))
	}
	text := strings.TrimSpace(data)
	if len(jobs) == 0 && text != "" && !strings.HasPrefix(text, "No jobs in the system") {
		first, _, _ := strings.Cut(text, "\n")
		return nil, fmt.Errorf("scontrol show job printed %q instead of jobs", first)
	}
	return jobs, nil
}

// freeText lists the fields whose values may have spaces: such a value ends at the end of its
// line, or before the next known field.
var freeText = map[string]bool{"JobName": true, "Comment": true, "WorkDir": true, "Command": true, "StdErr": true, "StdIn": true, "StdOut": true, "AdminComment": true, "SystemComment": true, "SubmitLine": true}

// readFields reads K=V pairs that are separated by spaces.
func readFields(line string, fields map[string]string) {
	line = strings.TrimSpace(line)
	for line != "" {
		key, rest, ok := strings.Cut(line, "=")
		if !ok {
			return
		}
		value, more := cutValue(rest, freeText[key])
		if _, taken := fields[key]; !taken { // later ones can be a part of a comment
			fields[key] = value
		}
		line = strings.TrimSpace(more)
	}
}

// cutValue cuts the value off the rest of a line. With -o, everything is one line, so a value
// with spaces ends where something like a field begins.
func cutValue(rest string, spaces bool) (value, more string) {
	for i := 0; i < len(rest); i++ {
		if rest[i] != ' ' {
			continue
		}
		if !spaces || startsField(rest[i+1:]) {
			return rest[:i], rest[i+1:]
		}
	}
	return rest, ""
}

// startsField reports whether text begins with a name of a field of `scontrol show job`.
func startsField(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	return ok && textFields[name]
}

// textFields lists the fields that follow those of freeText.
var textFields = map[string]bool{"HetJobIdSet": true, "PackJobIdSet": true, "UserId": true, "Priority": true, "WorkDir": true, "Command": true, "StdErr": true, "StdIn": true, "StdOut": true, "Power": true, "Switches": true, "TresPerNode": true, "TresPerTask": true, "TresPerJob": true, "MailUser": true, "MailType": true, "Comment": true, "AdminComment": true, "SystemComment": true, "Container": true, "NtasksPerTRES:0": true, "SubmitLine": true, "CPU_max_tasks": true}

// textJob makes a job of the fields of `scontrol show job`.
func textJob(f map[string]string, loc *time.Location) Job {
	get := func(key string) string { return plain(f[key]) }
	count := func(key string) int64 {
		n, _ := strconv.ParseInt(get(key), 10, 64) // 0 if it is missing
		return n
	}
	j := Job{
		ID: count("JobId"), Name: get("JobName"), Account: get("Account"), Partition: get("Partition"), QOS: get("QOS"),
		Reservation: get("Reservation"), Dependency: get("Dependency"), Comment: get("Comment"), WorkDir: get("WorkDir"),
		Command: get("Command"), StdOut: get("StdOut"), StdErr: get("StdErr"),
		Derived: parseExit(get("DerivedExitCode")), Exit: parseExit(get("ExitCode")), Restarts: int(count("Restarts")),
		Submitted: textTime(get("SubmitTime"), loc), Eligible: textTime(get("EligibleTime"), loc),
		Started: textTime(get("StartTime"), loc), Ended: textTime(get("EndTime"), loc),
		TimeLimit: textDuration(get("TimeLimit")), Tasks: int(count("NumTasks")),
	}
	j.Het = Het{count("HetJobId"), int(count("HetJobOffset"))}
	if j.Het.Leader == 0 { // until 20.02
		j.Het = Het{count("PackJobId"), int(count("PackJobOffset"))}
	}
	j.Array = Array{count("ArrayJobId"), get("ArrayTaskId")}
	j.User, j.UserID = textUser(get("UserId"))
	j.setState(strings.Split(get("JobState"), ","))
	j.setReason(get("Reason"), "")
	for _, key := range []string{"NodeList", "SchedNodeList"} {
		if j.Nodes = ExpandHosts(get(key)); len(j.Nodes) > 0 {
			break
		}
	}
	_, failed, _ := strings.Cut(get("FailedNode"), ":")
	j.FailedNode = failed
	return j
}

// textUser splits NAME(ID).
func textUser(text string) (name string, id int64) {
	name, rest, ok := strings.Cut(text, "(")
	id, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64)
	if !ok || err != nil {
		return text, -1
	}
	return name, id
}

func textTime(text string, loc *time.Location) *time.Time {
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, loc)
	if err != nil {
		return nil
	}
	t = t.UTC()
	return &t
}

// textDuration reads [D-]HH:MM:SS; other words, such as UNLIMITED, are 0.
func textDuration(text string) time.Duration {
	days, clock, ok := strings.Cut(text, "-")
	if !ok {
		days, clock = "0", text
	}
	d, err := strconv.Atoi(days)
	var total time.Duration
	for part := range strings.SplitSeq(clock, ":") {
		n, e := strconv.Atoi(part)
		if e != nil || err != nil {
			return 0
		}
		total = total*60 + time.Duration(n)*time.Second
	}
	return total + time.Duration(d)*24*time.Hour
}

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
