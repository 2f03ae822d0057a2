package docker

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// twoRoles returns an app whose request sets most fields.
func twoRoles(t *testing.T) backend.PlanInput {
	t.Helper()
	return input(t, "publish_ports=true,privileged=true", role("w", func(r *spec.Role) {
		r.NumReplicas = 2
		r.Args = []string{"<&>", "é"}
		r.Env.Set(spec.JobIDVariable, "docker://torchx/${app_id}")
		r.PortMap.Set("http", 8080)
		r.Resource = spec.Resource{CPU: 0.5, MemMB: 64, GPU: 1}
		r.Mounts = []spec.Mount{
			{Type: spec.MountBind, Src: "/a", Dst: "/b", ReadOnly: true},
			{Type: spec.MountVolume, Src: "v", Dst: "/v"},
			{Type: spec.MountDevice, Src: "/dev/null", Dst: "/dev/x", Permissions: "r"},
		}
	}), role("other", nil))
}

// TestLoadUnchanged: Load returns the request that was printed.
func TestLoadUnchanged(t *testing.T) {
	t.Parallel()
	in := twoRoles(t)
	p, req := plan(t, in)
	text := asJSON(t, req)
	loaded, err := planner{}.Load(t.Context(), in, json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, loaded.Request); got != text {
		t.Errorf("got  %s\nwant %s", got, text)
	}
	if asJSON(t, loaded.Cfg) != asJSON(t, p.Cfg) || asJSON(t, loaded.App) != asJSON(t, p.App) {
		t.Error("app or options have changed")
	}
	// Everything that the engine receives is kept, including zeros that have a meaning.
	got := loaded.Request.(*Request).Containers[0]
	for what, same := range map[string]bool{
		"config":  asPlain(t, got.Config) == asPlain(t, req.Containers[0].Config),
		"host":    asPlain(t, got.HostConfig) == asPlain(t, req.Containers[0].HostConfig),
		"network": asPlain(t, got.Networking) == asPlain(t, req.Containers[0].Networking),
	} {
		if !same {
			t.Errorf("%s has changed", what)
		}
	}
}

// asPlain returns the JSON that the client sends. Empty lists and null are the same.
func asPlain(t *testing.T, v any) string {
	return strings.ReplaceAll(asJSON(t, v), "[]", "null")
}

// TestLoadUnderAnotherID: a copy is a separate app.
func TestLoadUnderAnotherID(t *testing.T) {
	t.Parallel()
	in := twoRoles(t)
	_, req := plan(t, in)
	text := strings.Replace(asJSON(t, req), `"app_id":"a-1"`, `"app_id":"b-2"`, 1)
	text = strings.Replace(text, `"name":"a-1-w-1"`, `"name":"mine"`, 1)
	in.ID = "b-2"
	loaded, err := planner{}.Load(t.Context(), in, json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	_, want := plan(t, in)
	want.Containers[1].Name = "mine" // chosen by the user
	got := asJSON(t, loaded.Request)
	if wanted := asJSON(t, want); got != wanted {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	if !slices.Contains(loaded.Request.(*Request).Containers[2].Config.Env, "TORCHX_RANK0_HOST=b-2-w-0") {
		t.Error("TORCHX_RANK0_HOST is not that of app b-2")
	}
}

func TestLoadInvalid(t *testing.T) {
	t.Parallel()
	in := twoRoles(t)
	_, req := plan(t, in)
	text := asJSON(t, req)
	const other = `"Labels":{"torchx.pytorch.org/app-id":"a-1","torchx.pytorch.org/replica-id":"0","torchx.pytorch.org/role-name":"other"`
	for _, test := range []struct{ from, to, want string }{
		{`"app_id":"a-1"`, `"app_id":"c-3"`, `request.app_id is "c-3", want "a-1"`},
		{`"network":"torchx"`, `"network":""`, "request.network is empty"},
		{`"network"`, `"netwerk"`, `unknown field "netwerk"`},
		{`"Hostname"`, `"Hostnome"`, `unknown field "Hostnome"`},
		{`"Memory"`, `"Memry"`, `unknown field "Memry"`},
		{`"Memory":67108864`, `"Memory":"64m"`, "Memory does not take a JSON string"},
		{`"Entrypoint":["true"],` + other, other, "the program is missing"},
		{`"Image":"bb:1"`, `"Image":""`, "Image is empty"},
		{`"name":"a-1-w-1"`, `"name":"a-1-w-0"`, "the name of another container"},
		{`"name":"a-1-w-1"`, `"name":"no name"`, "is not a valid name"},
		{`replica-id":"1"`, `replica-id":"7"`, `no replica 7 of role "w"`},
		{`replica-id":"1"`, `replica-id":"0"`, "replica 0 of role w has more than one container"},
		{`replica-id":"1"`, `replica-id":"x"`, "config.Labels do not identify a replica"},
		{`"config":{"Hostname"`, `"config":null,"x":{"Hostname"`, `unknown field "x"`},
		{`"TORCHX_IMAGE=bb:1"`, `"TORCHX_IMAGE"`, "is not NAME=VALUE"},
	} {
		changed := strings.Replace(text, test.from, test.to, 1)
		if changed == text {
			t.Errorf("%s is not in %s", test.from, text)
			continue
		}
		_, err := planner{}.Load(t.Context(), in, json.RawMessage(changed))
		if !errors.Is(err, backend.ErrInvalidPlan) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", test.to, err, test.want)
		}
	}
	req.Containers = req.Containers[:2]
	if _, err := (planner{}).Load(t.Context(), in, json.RawMessage(asJSON(t, req))); err == nil || !strings.Contains(err.Error(), "no container for replica 0 of role other") {
		t.Errorf("without a container: got %v", err)
	}
	req.Containers[0].HostConfig = nil
	if _, err := (planner{}).Load(t.Context(), in, json.RawMessage(asJSON(t, req))); err == nil || !strings.Contains(err.Error(), "host_config is missing") {
		t.Errorf("without host_config: got %v", err)
	}
}
