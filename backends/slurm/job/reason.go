package job

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/spec"
)

// cause explains a reason of Slurm: why a job waits or failed, and what to do.
type cause struct{ why, fix string }

// String returns one line: WHY (WHAT TO DO).
func (c cause) String() string {
	if c.fix == "" {
		return c.why
	}
	return c.why + " (" + c.fix + ")"
}

// Remedies that several reasons have.
const (
	fixWait      = "it starts by itself"
	fixAdmin     = "ask the administrator"
	fixSmaller   = "it cannot start: cancel it and ask for less"
	fixPartition = "see `sinfo`, and choose another by -cfg partition=NAME"
	fixAccount   = "choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`"
	fixQOS       = "choose another by -cfg qos=NAME, see `sacctmgr show qos`"
)

// causes explains the reasons of Slurm (job_reason_codes.html) that families does not. The texts
// after the first word of a reason are added by explain.
var causes = map[string]cause{
	"Resources":  {"enough resources are not free yet", fixWait + " when other jobs end"},
	"Priority":   {"jobs of a higher priority are before it", fixWait + " after them, see `sprio`"},
	"Dependency": {"another job must end first", fixWait + " after it"},
	reasonBegin:  {"its earliest start time has not come", fixWait + ", `scontrol update jobid=ID starttime=now` starts it now"},
	"Licenses":   {"a license that it needs is in use", fixWait + " when one is free, see `scontrol show licenses`"},
	"Prolog":     {"the cluster prepares its nodes", fixWait},
	"Cleaning":   {"its previous run is being cleaned up", fixWait},
	"FedJobLock": {"clusters of the federation agree on where it runs", fixWait},
	"SchedDefer": {"the cluster starts no job at the time of submission", fixWait},

	"DependencyNeverSatisfied": {"the job that it depends on has failed", "it cannot start: cancel it"},
	"JobHeldUser":              {"it is held", "release it by `scontrol release ID`"},
	"JobHeldAdmin":             {"an administrator holds it", fixAdmin},
	"JobHoldMaxRequeue":        {"it was requeued too often and is held", "see why it fails, then `scontrol release ID`"},
	"JobArrayTaskLimit":        {"the array runs as many tasks at once as it may", fixWait},

	"PartitionDown":      {"partition PARTITION is down", fixPartition},
	"PartitionInactive":  {"partition PARTITION starts no jobs", fixPartition},
	"PartitionNodeLimit": {"partition PARTITION has too few usable nodes, or allows fewer for one job", fixPartition},
	"PartitionTimeLimit": {"its time limit is longer than partition PARTITION allows", "cancel it and ask for less by -cfg time=TIME, or for another partition"},
	"PartitionConfig":    {"partition PARTITION does not fit its request", fixPartition},
	"ReqNodeNotAvail":    {"nodes that it needs are not available", "see `sinfo -R` for nodes that are down or drained"},
	"NodeDown":           {"a node that it needs is down", "see `sinfo -R`"},
	"FrontEndDown":       {"no front-end node is available", fixAdmin},
	"BadConstraints":     {"no node has what it asks for", "cancel it and change -cfg constraint=FEATURES or its resources, see `sinfo -o '%N %f %c %m %G'`"},
	"Constraints":        {"no node has what it asks for", "cancel it and change -cfg constraint=FEATURES or its resources, see `sinfo -o '%N %f %c %m %G'`"},
	"MaxMemPerLimit":     {"it asks for more memory than one node may give", fixSmaller},

	"Reservation":        {"its reservation has not begun", fixWait + " then, see `scontrol show reservation`"},
	"ReservationDeleted": {"its reservation was deleted", "cancel it and submit it without the reservation"},
	"ReservationInvalid": {"its reservation does not allow it", "cancel it and submit it without the reservation"},

	"InvalidAccount":    {"account ACCOUNT is not valid", fixAccount},
	"AccountNotAllowed": {"partition PARTITION does not allow account ACCOUNT", fixAccount},
	"AccountingPolicy":  {"a limit of its account or QOS", "see `sacctmgr show associations` and `sacctmgr show qos`"},
	"InvalidQOS":        {"QOS QOSNAME is not valid", fixQOS},
	"QOSNotAllowed":     {"partition PARTITION or account ACCOUNT does not allow QOS QOSNAME", fixQOS},
	"QOSUsageThreshold": {"account ACCOUNT has used too much for QOS QOSNAME", fixQOS},

	"AssociationJobLimit":      {"account ACCOUNT runs as many jobs as it may", fixWait + " when one ends"},
	"AssociationResourceLimit": {"account ACCOUNT uses as much as it may", fixWait + " when other jobs of it end"},
	"AssociationTimeLimit":     {"account ACCOUNT has used all of its time", fixAccount},
	"QOSJobLimit":              {"QOS QOSNAME runs as many jobs as it may", fixWait + " when one ends"},
	"QOSResourceLimit":         {"QOS QOSNAME uses as much as it may", fixWait + " when other jobs of it end"},
	"QOSTimeLimit":             {"QOS QOSNAME has used all of its time", fixQOS},

	"BurstBufferResources": {"the burst buffer has no room", fixWait},
	"BurstBufferStageIn":   {"its files are being copied to the burst buffer", fixWait},
	"BurstBufferOperation": {"the burst buffer failed", fixAdmin},
	"MaxPoweredUpNodes":    {"as many nodes are powered up as may be", fixWait},
	"PowerNotAvail":        {"the cluster has no power for it", fixWait},
	"PowerReserved":        {"the power that it needs is reserved", fixWait},

	// Reasons of jobs that ended.
	"SystemFailure":    {"Slurm, a file system or the network failed", fixAdmin},
	"JobLaunchFailure": {"its batch script could not be started", "see the log of slurmd on its first node: often its folder does not exist there"},
	"NonZeroExitCode":  {"", ""},
	"RaisedSignal":     {"", ""},
	"TimeLimit":        {"its time limit was reached", fixTime},
	"InactiveLimit":    {"it did nothing for too long", fixAdmin},
	"DeadLine":         {"its deadline has passed", ""},
	"OutOfMemory":      {"it used more memory than it asked for", fixMemory},
}

const (
	reasonBegin = "BeginTime"

	fixTime   = "ask for more by -cfg time=TIME"
	fixMemory = "ask for more memory in the role's resource"
)

// sentences explains details that Slurm gives instead of a reason, by a part of their text.
var sentences = []struct {
	part string
	cause
}{
	{"DOWN, DRAINED or reserved", cause{"nodes that it needs are down, drained or reserved", "see `sinfo -R`, or wait"}},
	{"account not permitted to use this partition", cause{"partition PARTITION does not allow account ACCOUNT", fixAccount}},
	{"not permitted to use this partition", cause{"you may not use partition PARTITION", fixPartition}},
	{"launch failed requeued held", cause{"its batch script could not be started, and it is held", "see the log of slurmd on its first node, then `scontrol release ID`"}},
	{"user env retrieval failed requeued held", cause{"your environment could not be read on its node, and it is held", "`scontrol release ID` tries again"}},
	{"requeued in held state", cause{"it was requeued and is held", "release it by `scontrol release ID`"}},
	{"requeued in special exit", cause{"it was requeued and is held", "release it by `scontrol release ID`"}},
}

// Depends reports whether the job waits, or waited until its end, for other jobs.
func (j *Job) Depends() bool { return j.Reason == "Dependency" || j.NeverStarts() }

// NeverStarts reports whether a job that this one depends on did not end as required.
func (j *Job) NeverStarts() bool { return j.Reason == "DependencyNeverSatisfied" }

// explain returns the cause of a job's reason; ok is false if Slurm gives none.
func (j *Job) explain() (c cause, ok bool) {
	for _, s := range sentences {
		if strings.Contains(j.Detail, s.part) {
			return j.fill(s.cause), true
		}
	}
	if j.Reason == "" {
		return cause{why: j.Detail}, j.Detail != ""
	}
	c, ok = causes[j.Reason]
	if !ok {
		c, ok = family(j.Reason)
	}
	if !ok {
		c = cause{"Slurm's reason is " + j.Reason, "see `scontrol show job ID`"}
	}
	c = j.fill(c)
	if j.Detail != "" && c.why != "" {
		c.why += ": " + cutText(j.Detail)
	}
	return c, c.why != ""
}

// fill replaces the names in a cause by those of the job: "account ACCOUNT" becomes "account lab",
// or "its account" if it is unknown.
func (j *Job) fill(c cause) cause {
	id := strconv.FormatInt(j.Main(), 10)
	pairs := []string{" ID`", " " + id + "`", "=ID ", "=" + id + " "}
	for _, n := range []struct{ word, key, name string }{
		{"partition", "PARTITION", j.Partition}, {"account", "ACCOUNT", j.Account}, {"QOS", "QOSNAME", j.QOS},
	} {
		known := n.word + " " + n.name
		if n.name == "" {
			known = "its " + n.word
		}
		pairs = append(pairs, n.word+" "+n.key, known)
	}
	names := strings.NewReplacer(pairs...)
	return cause{names.Replace(c.why), names.Replace(c.fix)}
}

// maxDetail bounds the characters of a detail: it can list thousands of nodes.
const maxDetail = 200

func cutText(text string) string {
	if r := []rune(text); len(r) > maxDetail {
		return string(r[:maxDetail]) + "…"
	}
	return text
}

// Waits returns why a job that has not started waits, with what to do, in one line; "" if
// Slurm does not say.
func (j *Job) Waits() string {
	switch {
	case j.has(flagConfiguring), j.has("POWER_UP_NODE"):
		return "its nodes are being started"
	case j.Status == statusSuspended, j.has("STOPPED"):
		return cause{"it is suspended", fmt.Sprintf("`scontrol resume %d` resumes it", j.Main())}.String()
	case j.has("REQUEUED") && j.Reason == "":
		return "it is being requeued"
	case j.Reason == reasonBegin && j.Restarts > 0: // Slurm gives requeued jobs a start time
		return cause{fmt.Sprintf("it was requeued, restart %d", j.Restarts), fixWait + " about two minutes later"}.String()
	}
	c, ok := j.explain()
	if !ok || j.State() != spec.Pending {
		return ""
	}
	return c.String()
}

func (j *Job) has(flag string) bool {
	return j.Status == flag || slices.Contains(j.Flags, flag)
}

// Why returns why a job failed or was canceled, in one line; "" if its exit code says it all.
func (j *Job) Why() string {
	switch {
	case j.State() == spec.Cancelled:
		if j.KilledBy != "" {
			return "cancelled by " + j.KilledBy
		}
		return "cancelled"
	case j.has(statusTimeout):
		return cause{"its time limit" + limitText(j) + " was reached", fixTime}.String()
	case j.has(statusDeadline):
		return "its deadline has passed"
	case j.has(statusMemory):
		return cause{"out of memory: it used more than it asked for", fixMemory}.String()
	case j.has(statusNodeFail):
		return cmp.Or(prefix("node ", j.FailedNode, " failed"), "a node failed")
	case j.has(statusPreempted):
		return cause{"preempted by a job of higher priority", "-cfg requeue=true starts it again"}.String()
	case j.has(statusBootFail):
		return "its nodes could not be started"
	case j.has(statusRevoked):
		return "another cluster of the federation runs it"
	}
	if c, ok := j.explain(); ok {
		return c.String()
	}
	return ""
}

// limitText returns a time limit with a space before it, "" if it is unknown.
func limitText(j *Job) string {
	if j.TimeLimit == 0 {
		return ""
	}
	text := j.TimeLimit.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return " of " + text
}

func prefix(before, name, after string) string {
	if name == "" {
		return ""
	}
	return before + name + after
}
