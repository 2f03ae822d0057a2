package goldens

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// dockerMessages are expected on stderr, by case.
var dockerMessages = map[string][]string{
	"custom_multirole":     {`docker backend ignores: .*capabilities`},
	"custom_names_leading": {`error: .*--app`},
	"sh_all_options":       {`error: .*--env.*x`},
	"spmd_mismatch_warn":   {`warning: .*4 .*2 GPUs`},
}

// TestDockerRecordings: torchx sends to the engine what TorchX sends through docker-py,
// except for dockerDifferences.
func TestDockerRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/dryrun/*.local_docker.json")
	must(t, err)
	if len(paths) != 31 {
		t.Errorf("got %d recordings, want 31", len(paths))
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".local_docker.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			must(t, err)
			var r recording
			must(t, json.Unmarshal(data, &r))
			if r.Request != nil {
				r.Request = json.RawMessage(text(engineBodies(decode(t, string(r.Request)).(object))))
			}
			r.checkAgainst(t, newRewriter(name, dockerDifferences), dockerMessages[name])
		})
	}
}

// dockerShape are rows of torchx-differences.md for the differences that engineBody makes.
var dockerShape = []string{"ENTRYPOINT of an image", "retries on Docker", "PID 1 on Docker"}

// engineBodies turns the arguments of docker-py into the bodies that it sends (see
// goldens/docker-engine-requests.txt), without members that have no meaning. Intended
// differences from TorchX are here and in dockerDifferences.
func engineBodies(request object) object {
	containers, _ := request.get("containers").([]any)
	bodies := make([]any, len(containers))
	for i, c := range containers {
		bodies[i] = engineBody(c.(object))
	}
	return object{{"app_id", request.get("app_id")}, {"network", "torchx"}, {"containers", bodies}}
}

func engineBody(c object) object {
	k := c.get("kwargs").(object)
	argv := c.get("command").([]any)
	network := k.get("network").(string)
	return object{
		{"name", k.get("name")},
		{"config", nonZero(object{
			{"Hostname", k.get("hostname")},
			{"Env", assignments(k.get("environment").(object))},
			{"Cmd", argv[1:]},
			{"Image", c.get("image")},
			{"Entrypoint", argv[:1]}, // [BUG] fact 104: TorchX passes it in Cmd
			{"Labels", sortedLabels(k.get("labels").(object), "app-id", "replica-id", "role-name", "version")},
		})},
		// Without restart_policy: the agent restarts replicas.
		{"host_config", nonZero(object{
			{"NetworkMode", network},
			{"Privileged", k.get("privileged")},
			{"ShmSize", mebibytes(k.get("shm_size"))},
			{"Memory", mebibytes(k.get("mem_limit"))},
			{"NanoCpus", k.get("nano_cpus")},
			{"Devices", devices(k.get("devices").([]any))},
			{"DeviceRequests", nonZeroMembers(k.get("device_requests"), "Count", "Capabilities")},
			{"Mounts", nonZeroMembers(k.get("mounts"), "Type", "Source", "Target", "ReadOnly")},
			{"Init", true}, // PID 1 would ignore SIGTERM
		})},
		// docker-py has {"torchx": null} one level higher, where the engine ignores it.
		{"networking_config", object{{"EndpointsConfig", object{{network, object{}}}}}},
	}
}

// nonZero returns the members that are not zero values.
func nonZero(o object) object {
	out := object{}
	for _, m := range o {
		switch text(m.value) {
		case "null", "[]", "0", "false", `""`:
		default:
			out = append(out, m)
		}
	}
	return out
}

// nonZeroMembers applies nonZero to the named members of all objects of a list.
func nonZeroMembers(v any, names ...string) []any {
	from, _ := v.([]any)
	list := []any{}
	for _, o := range from {
		picked := object{}
		for _, name := range names {
			picked = append(picked, member{name, o.(object).get(name)})
		}
		list = append(list, nonZero(picked))
	}
	return list
}

// sortedLabels returns TorchX's labels in the order of names.
func sortedLabels(labels object, names ...string) object {
	out := object{}
	for _, name := range names {
		name = "torchx.pytorch.org/" + name
		out = append(out, member{name, labels.get(name)})
	}
	return out
}

func assignments(env object) []any {
	list := []any{}
	for _, m := range env {
		list = append(list, m.key+"="+m.value.(string))
	}
	return list
}

// mebibytes converts a size such as "128m" to bytes.
func mebibytes(v any) any {
	size, _ := v.(string)
	n, err := strconv.ParseInt(strings.TrimSuffix(size, "m"), 10, 64)
	if err != nil {
		return v
	}
	return json.Number(strconv.FormatInt(n<<20, 10))
}

func devices(texts []any) []any {
	list := []any{}
	for _, d := range texts {
		p := strings.Split(d.(string), ":")
		list = append(list, object{{"PathOnHost", p[0]}, {"PathInContainer", p[1]}, {"CgroupPermissions", p[2]}})
	}
	return list
}

// Paths within containers.
const (
	config  = `request\.containers\[\d]\.config`
	command = config + `\.Cmd`
	envText = config + `\.Env\[\d+]`
)

// dockerDifferences are the intended differences for docker.
var dockerDifferences = append(inApp(differences), []difference{
	{everyCase, `app\.roles\[\d]\.env\.TORCHX_JOB_ID`, `local_docker://`, `docker://`, jobIDRow},
	{everyCase, envText, `TORCHX_JOB_ID=local_docker://`, `TORCHX_JOB_ID=docker://`, jobIDRow},
	{everyCase, envText, `ghcr.io/pytorch/torchx:0.8.0dev0`, torchxImage, imageRow},
	{everyCase, config + `\.Image`, `ghcr.io/pytorch/torchx:0.8.0dev0`, torchxImage, imageRow},
	{everyCase, config + `\.Labels\.torchx\.pytorch\.org/version`, `0.8.0dev0`, `0.1.0`, "label `version`"},
	{
		everyCase, `cfg`, `}`, `,"pull":"missing","init":true,"publish_ports":false,"workspace_mode":"image","grace_period":10,"fail_fast":true,"output_dir":null,"platform":null,"ulimits":null,"dns":null,"extra_hosts":null,"host":null,"context":null}`,
		optionsRow,
	},
	{"custom_names_leading_eq", envText, `RANK0_HOST=-_9app`, `RANK0_HOST=9app`, "host of replica 0 on Docker"},

	{"ddp_elastic", command + `\[1]`, `:=localhost}:30000`, `:=localhost}:${TORCHX_PORT_C10D:=30000}`, portRow},
	{"spmd_infer_gpu", command + `\[1]`, `:=localhost}:29500`, `:=localhost}:${TORCHX_PORT_C10D:=29500}`, portRow},

	{"booth", config + `\.Entrypoint\[0]`, `python`, `sh`, boothRow},
	{
		"booth", command,
		`["-m","torchx.apps.utils.booth_main","--x1","1.0","--x2","2.5","--trial_idx","3","--tracker_base","/tmp/torchx-util-booth"]`,
		`["-c","` + anyText + `","booth","1.0","2.5","3","/tmp/torchx-util-booth"]`, boothRow,
	},
	{"custom_types_ok", command + `\[9]`, `'7'`, `7`, optionalRow},
	{"custom_types_dashdash", command + `\[2]`, `False`, `True`, boolRow},
}...)

// inApp returns the differences of the app and the exit code, which apply to all backends.
func inApp(all []difference) (some []difference) {
	for _, d := range all {
		if strings.HasPrefix(d.at, "app") || d.at == "exit_code" {
			some = append(some, d)
		}
	}
	return some
}
