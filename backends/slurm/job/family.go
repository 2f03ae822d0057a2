package job

import "strings"

// things names what limits count, as users say it. The names in reasons differ in case and form
// between limits.
var things = []struct{ word, name string }{
	{"submitjobs", "submitted jobs"},
	{"submitjob", "submitted jobs"},
	{"jobs", "running jobs"},
	{"job", "running jobs"},
	{"wallduration", "time"},
	{"wall", "time"},
	{"cpu", "CPUs"},
	{"memory", "memory"},
	{"mem", "memory"},
	{"nodes", "nodes"},
	{"node", "nodes"},
	{"gres", "GPUs or other devices"},
	{"license", "licenses"},
	{"lic", "licenses"},
	{"bb", "burst buffer"},
	{"energy", "energy"},
	{"billing", "billing units"},
	{"unknown", "a resource"},
}

// owners maps the beginnings of limits to who has the limit, and what to do instead.
var owners = []struct{ start, who, fix string }{
	{"Assoc", "account ACCOUNT", fixAccount},
	{"QOS", "QOS QOSNAME", fixQOS},
	{"Max", "QOS QOSNAME", fixQOS}, // Max…PerAccount
}

// family explains a limit by the parts of its name: AssocGrpCpuLimit, QOSMaxJobsPerUserLimit,
// QOSMinGRES, MaxNodePerAccount, AssocGrpMemRunMinutes. It covers limits on resources that later
// versions add.
func family(reason string) (c cause, ok bool) {
	for _, o := range owners {
		rest, found := strings.CutPrefix(reason, o.start)
		if !found || o.start == "Max" && !strings.HasSuffix(rest, "PerAccount") {
			continue
		}
		kind := "Max"
		if o.start != "Max" {
			if kind, rest, found = cutKind(rest); !found {
				return c, false
			}
		}
		thing, unit := cutThing(rest)
		return limit(kind, unit, thing, o.who, o.fix), true
	}
	return c, false
}

func cutKind(rest string) (kind, after string, ok bool) {
	for _, k := range []string{"Grp", "Max", "Min"} {
		if after, ok := strings.CutPrefix(rest, k); ok {
			return k, after, true
		}
	}
	return "", rest, false
}

// cutThing splits CpuPerUserLimit into what is limited and the rest.
func cutThing(rest string) (thing, unit string) {
	lower := strings.ToLower(rest)
	for _, t := range things {
		if after, ok := strings.CutPrefix(lower, t.word); ok {
			return t.name, after
		}
	}
	return "a resource", lower
}

// limit explains a limit of who, on one job if unit says so, else on all of its jobs together.
func limit(kind, unit, thing, who, fix string) cause {
	isTime := strings.Contains(unit, "minutes")
	switch {
	case kind == "Min":
		return cause{"it asks for less than " + who + " requires of each job: " + thing, "cancel it and ask for more"}
	case isTime && strings.Contains(unit, "run"):
		return cause{"the running jobs of " + who + " have reserved all time that they may: " + thing, fixWait + " when they end, a shorter -cfg time=TIME may start it sooner"}
	case isTime && strings.Contains(unit, "perjob"):
		return cause{"it asks for more time than " + who + " allows one job: " + thing, fixSmaller + " by -cfg time=TIME"}
	case isTime:
		return cause{who + " has used all time that it may: " + thing, fix}
	case thing == "time" && kind == "Max":
		return cause{"its time limit is longer than " + who + " allows", fixSmaller + " by -cfg time=TIME"}
	case strings.Contains(unit, "perjob"), strings.Contains(unit, "pernode"):
		return cause{"it asks for more than " + who + " allows one job: " + thing, fixSmaller}
	case strings.Contains(unit, "peruser"):
		return cause{"you use as much as " + who + " allows each user: " + thing, fixWait + " when your other jobs end"}
	case strings.Contains(unit, "peraccount"):
		return cause{"your account uses as much as " + who + " allows each account: " + thing, fixWait + " when its other jobs end"}
	case kind == "Max":
		return cause{"you use as much as " + who + " allows: " + thing, fixWait + " when your other jobs end"}
	}
	return cause{"the jobs of " + who + " use as much as they may together: " + thing, fixWait + " when some of them end"}
}
