package runner

import (
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// FuzzDecode decodes any text as a plan: the output of `run --dryrun --json` or
// `describe --json`, edited or not. A valid app is within the limits.
func FuzzDecode(f *testing.F) {
	const role = `{"name":"r","image":"i","entrypoint":"x","args":["a"],"env":{"K":"V"},"num_replicas":2,"max_retries":1,"retry_policy":"ROLE",` +
		`"resource":{"cpu":0.5,"gpu":1,"memMB":2,"devices":{"d":1}},"port_map":{"p":80},"mounts":[{"kind":"BindMount","src_path":"/a","dst_path":"/b"}],` +
		`"metadata":{"torchx":{"ready":{"port":"p"}}},"workspace":{"projects":{"/w":""}}}`
	for _, s := range []string{
		`{"app":{"name":"a","roles":[` + role + `],"metadata":{}},"cfg":{},"request":{}}`,
		`{"app":{"name":"a","roles":[` + role + `]},"handle":"local://torchx/a","component":"c","args":["x"],"partial":true}`,
		`{"app":{"name":"a","roles":[{},{}]},"request":null}`, `{"app":null,"request":{}}`, `{}{}`, `[`, ``, `{"x":1}`, "{\n\"app\":3}",
		`{"app":{"roles":[{"num_replicas":1e400}]},"request":1}`, `{"app":{"roles":[{"num_replicas":99999999999999999999}]},"request":1}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, err := decode([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got an error of several lines: %q", text, err)
			}
			return
		}
		plannedFor(in.App)
		if in.App.Validate() != nil {
			return
		}
		replicas := 0
		for i := range in.App.Roles {
			replicas += in.App.Roles[i].NumReplicas
		}
		if replicas > spec.MaxReplicas || in.App.CheckLimits() != nil {
			t.Errorf("%q: %d replicas passed Validate, want at most MaxReplicas", text, replicas)
		}
		_ = in.App.CheckPlanLimits(spec.Macros{AppID: "id", ReplicaID: "0"}, 0)
	})
}
