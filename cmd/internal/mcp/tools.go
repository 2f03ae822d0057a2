package mcp

import "slices"

var (
	handle    = field{name: "handle", kind: text, about: "the app: its handle, a unique prefix of its ID, or - for the most recent one", required: true}
	handles   = field{name: "handles", kind: texts, about: "the apps, each as a handle, a unique prefix of an ID, or -", required: true}
	component = field{name: "component", kind: text, about: "name of a component as list_components has it, or FILE.star:NAME", required: true}
	arguments = field{name: "args", kind: texts, about: `arguments of the component as typed in a shell: ["--lr", "0.1"]`, raw: true}
	planning  = []field{
		{name: "backend", kind: text, about: "local (default), docker, slurm or kubernetes", flag: "--backend"},
		{name: "cfg", kind: text, about: "options of the backend: K=V,K2=V2", flag: "--scheduler_args"},
		{name: "env", kind: mapping, about: "variables for all roles", flag: "--env"},
		{name: "workspace", kind: text, about: "local folder to add to the image", flag: "--workspace"},
		{name: "timeout", kind: text, about: "end the app after this time: 90s, 30m, 2h", flag: "--timeout"},
		{name: "tags", kind: mapping, about: "labels of the run", flag: "--tag"},
		{name: "note", kind: text, about: "why this run", flag: "--note"},
	}
	sweeping = []field{
		{name: "grid", kind: texts, about: "all combinations of values of arguments, NAME=V,V each", flag: "--grid"},
		{name: "choice", kind: texts, about: "draw one of the values, NAME=V,V each; needs random", flag: "--choice"},
		{name: "range", kind: texts, about: "draw from NAME=lin|log|int:LOW..HIGH; needs random", flag: "--range"},
		{name: "random", kind: number, about: "how often to draw", flag: "--random"},
		{name: "repeat", kind: number, about: "run each combination that often", flag: "--repeat"},
		{name: "seed", kind: number, about: "decides what is drawn", flag: "--seed"},
		{name: "metric", kind: text, about: "compare trials by the best value of NAME[:min|:max]", flag: "--metric"},
		{name: "parallel", kind: number, about: "trials at the same time", flag: "--parallel"},
		{name: "early_stop", kind: text, about: "stop bad trials: median or asha", flag: "--early-stop"},
		{name: "stop_when", kind: text, about: "end when a trial meets a condition: val_loss<0.1", flag: "--stop-when"},
	}
)

// allTools returns the tools in the order in which an agent needs them.
func allTools() []*tool {
	return slices.Concat(findTools(), runTools(), lookTools())
}

func findTools() []*tool {
	return []*tool{
		{
			name: "list_components", title: "List components", about: "Lists what can be run here: components of the project, of its libraries, and built-in ones.",
			words: []string{"component", "list", "--json"}, schema: "component-list", list: "components",
		},
		{
			name: "explain_component", title: "Explain a component", about: "Returns the arguments of a component with types, defaults and help, and its source.",
			words: []string{"component", "show", "--json"}, fields: []field{component}, schema: "component-show",
		},
		{
			name: "read_docs", title: "Read the documentation", about: "Returns a page of the documentation as Markdown; without a topic, the list of topics. The topic language describes the component language.",
			words: []string{"help"}, fields: []field{{name: "topic", kind: text, about: "name of a page, such as writing-components, sweeps or troubleshooting", own: true}}, call: readDocs,
		},
		{
			name: "dry_run", title: "Plan a run", about: "Returns what run would submit, without running anything.",
			words: []string{"run", "--dryrun", "--json"}, fields: slices.Concat(planning, []field{component, arguments}), schema: "run", call: planOf,
		},
	}
}

func runTools() []*tool {
	return []*tool{
		{
			name: "run", title: "Run a component", about: "Starts a component as an app and returns its handle at once; wait waits for its end.",
			words: []string{"run", "--detach", "--json"}, fields: slices.Concat(planning, []field{component, arguments}), schema: "submit", changes: true,
		},
		{
			name: "sweep", title: "Run a sweep", about: "Runs a component with many combinations of arguments, its trials, and returns the handle of the sweep at once.",
			words: []string{"sweep", "--detach", "--json"}, fields: slices.Concat(sweeping, planning, []field{component, arguments}), schema: "submit", changes: true,
		},
		{
			name: "wait", title: "Wait for an app", about: "Waits until an app has ended, or for a limited time, and returns its status. Call it again if the state is not SUCCEEDED, FAILED or CANCELLED.",
			words:  []string{"status", "--json"},
			fields: []field{handle, {name: "timeout_s", kind: number, about: "seconds to wait: 60 by default, at most 600", own: true}}, schema: "status", call: waitFor,
		},
		{
			name: "cancel", title: "Cancel an app", about: "Asks an app to end. An app that has ended is left as it is.",
			words: []string{"cancel"}, fields: []field{handle}, changes: true, destroys: true,
		},
	}
}

func lookTools() []*tool {
	return []*tool{
		{
			name: "list_runs", title: "List runs", about: "Lists past and present apps, the newest first.",
			words: []string{"list", "--json"}, schema: "list", list: "runs",
			fields: []field{
				{name: "state", kind: text, about: "pending, running, succeeded, failed or cancelled", flag: "--state"},
				{name: "component", kind: text, about: "pattern of the component", flag: "--component"},
				{name: "tag", kind: texts, about: "KEY or KEY=VALUE", flag: "--tag"},
				{name: "search", kind: text, about: "words in the ID, name, component, arguments, tags or note", flag: "--search"},
				{name: "where", kind: texts, about: "condition on a metric: loss<0.3", flag: "--where"},
				{name: "since", kind: text, about: "an age (2h) or a time", flag: "--since"},
				{name: "parent", kind: text, about: "handle of a sweep: its trials", flag: "--parent"},
				{name: "limit", kind: number, about: "50 by default", flag: "--limit"},
			},
		},
		{
			name: "status", title: "Status of an app", about: "Returns the state of an app and its replicas, and if it failed why, with the last lines of the replica that failed first.",
			words: []string{"status", "--json"}, fields: []field{handle}, schema: "status", call: statusOf,
		},
		{
			name: "logs", title: "Logs of an app", about: "Returns lines that replicas printed: the last ones, or those that the arguments select. Long answers lose their beginning.",
			words: []string{"log", "--json"}, call: logsOf,
			fields: []field{
				{name: "handle", kind: text, about: "HANDLE, HANDLE/ROLE or HANDLE/ROLE/0,1", required: true},
				{name: "tail", kind: number, about: "last lines of each replica, or with regex the last matches: 100 by default, at most 2000", own: true},
				{name: "failed", kind: truth, about: "only replicas that failed, in the order in which they failed", flag: "--failed"},
				{name: "regex", kind: text, about: "only lines that match (RE2)", flag: "--regex"},
				{name: "since", kind: text, about: "an age (10m) or a time", flag: "--since"},
				{name: "until", kind: text, about: "an age or a time", flag: "--until"},
				{name: "lines", kind: text, about: "lines N:M of each stream, instead of the last ones", flag: "--line"},
				{name: "stream", kind: text, about: "stdout, stderr or combined", flag: "--streams"},
				{name: "attempt", kind: number, about: "of each replica, from 0; the last by default", flag: "--attempt"},
			},
		},
		{
			name: "metrics", title: "Metrics of apps", about: "Returns the series of numbers that apps recorded: last, least and largest values, and some points of each.",
			words: []string{"metrics", "--json"}, schema: "metrics", list: "series", call: metricsOf,
			fields: []field{
				handles,
				{name: "names", kind: texts, about: "only these metrics"},
				{name: "points", kind: number, about: "points of each series, evenly chosen: 20 by default, 0 for none", own: true},
			},
		},
		{
			name: "compare", title: "Compare runs", about: "Returns how runs ended, their metrics, and what differs between them: arguments, options, code.",
			words: []string{"compare", "--json"}, schema: "compare",
			fields: []field{handles, {name: "metric", kind: texts, about: "only these metrics", flag: "--metric"}, {name: "sort", kind: text, about: "metric, duration, state or memory", flag: "--sort"}},
		},
		{
			name: "diff", title: "Diff two runs", about: "Returns how the complete plans of two runs differ.",
			words: []string{"diff", "--json"}, schema: "diff",
			fields: []field{{name: "a", kind: text, about: "a handle", required: true}, {name: "b", kind: text, about: "another handle", required: true}},
		},
	}
}
