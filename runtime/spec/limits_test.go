package spec

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// appOf returns a valid app with roles of the given replicas.
func appOf(replicas ...int) *App {
	app := &App{Name: "x"}
	for i, n := range replicas {
		r := NewRole("r"+string(rune('a'+i)), "img")
		r.Entrypoint, r.NumReplicas = "sh", n
		app.Roles = append(app.Roles, r)
	}
	return app
}

// changed returns an app of one role after a change.
func changed(change func(*Role)) *App {
	app := appOf(1)
	change(&app.Roles[0])
	return app
}

func TestLimits(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", MaxSize)
	negative, huge := -1, math.MaxInt
	many := appOf(1)
	many.Roles = slices.Repeat(many.Roles, MaxRoles+1)
	named := appOf(1)
	named.Metadata = map[string]any{"k": []any{Tuple{big}}}
	for name, c := range map[string]struct {
		app  *App
		want string // part of the error; "": no error
	}{
		"most replicas":     {appOf(MaxReplicas), ""},
		"too many replicas": {appOf(math.MaxInt32), `too many replicas: role "ra" has 2147483647, and all roles of an app together may have at most 100000`},
		"overflow":          {appOf(1, math.MaxInt), `role "rb" has 9223372036854775807`},
		"sum of replicas":   {appOf(60_000, 40_000, 1), `role "rc" has 1, and all`},
		"roles":             {many, `too many roles: role "ra" is number 10001, and an app may have at most 10000`},
		"args":              {changed(func(r *Role) { r.Args = []string{big} }), `the app is too large: role "ra" adds 8 MiB (args: 8 MiB), and all roles of an app together may have at most 8 MiB`},
		"many args":         {changed(func(r *Role) { r.Args = make([]string, MaxSize/itemSize+1) }), "(args: 8 MiB)"},
		"env":               {changed(func(r *Role) { r.Env.Set("A", big) }), "(env: 8 MiB)"},
		"mounts":            {changed(func(r *Role) { r.Mounts = []Mount{{Src: big}} }), "(mounts: 8 MiB)"},
		"metadata":          {changed(func(r *Role) { r.Metadata["m"] = map[string]any{"k": big} }), "(metadata: 8 MiB)"},
		"image":             {changed(func(r *Role) { r.Image = big }), "(name, image and entrypoint: 8 MiB)"},
		"capabilities":      {changed(func(r *Role) { r.Resource.Capabilities["c"] = big }), "(resource: 8 MiB)"},
		"workspace":         {changed(func(r *Role) { r.Workspace = &Workspace{Map[string]{{big, ""}}} }), "(workspace: 8 MiB)"},
		"a long name":       {changed(func(r *Role) { r.Name = big }), `role "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"... adds`},
		"app metadata":      {named, "the app is too large: its metadata adds 8 MiB"},
		"max_retries":       {changed(func(r *Role) { r.MaxRetries = math.MaxInt32 }), `role "ra": max_retries is 2147483647, want 0 to 1000000000`},
		"min_replicas":      {changed(func(r *Role) { r.MinReplicas = &negative }), "min_replicas is -1, want 0 to"},
		"huge min_replicas": {changed(func(r *Role) { r.MinReplicas = &huge }), "min_replicas is 9223372036854775807"},
		"memMB":             {changed(func(r *Role) { r.Resource.MemMB = huge }), "memMB is 9223372036854775807, want 0 to"},
		"gpu":               {changed(func(r *Role) { r.Resource.GPU = math.MinInt }), "gpu is -9223372036854775808, want 0 to"},
		"cpu":               {changed(func(r *Role) { r.Resource.CPU = 1e308 }), "cpu is 1e+308, want 0 to"},
		"no number":         {changed(func(r *Role) { r.Resource.CPU = math.NaN() }), "cpu is NaN"},
		"devices":           {changed(func(r *Role) { r.Resource.Devices.Set("d", -1) }), `devices["d"] is -1, want 0 to`},
		"port":              {changed(func(r *Role) { r.PortMap.Set("p", 65536) }), `port_map["p"] is 65536, want 0 to 65535`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.app.Validate()
			if c.want == "" {
				if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 250 {
				t.Errorf("got %.300v, want one short line with %q", err, c.want)
			}
		})
	}
}

// TestLimitsCountSharedValues: a value that roles share is counted for each role, since each
// gets a copy later.
func TestLimitsCountSharedValues(t *testing.T) {
	t.Parallel()
	args := []string{strings.Repeat("x", 1<<20)}
	var m Meter
	for n := range 20 {
		r := NewRole("r", "img")
		r.Args = args
		if err := m.Add(&r); err != nil {
			if n != 7 {
				t.Errorf("role %d: got %v, want an error for the eighth of 1 MiB", n, err)
			}
			return
		}
	}
	t.Error("20 MiB: got nil, want an error")
}

func TestPlanLimits(t *testing.T) {
	t.Parallel()
	macros := Macros{AppID: strings.Repeat("i", 1000), ImgRoot: "/", ReplicaID: "100000", Rank0Env: "R"}
	kib := strings.Repeat("x", 1<<10)
	for name, c := range map[string]struct {
		app    *App
		common int
		want   string
	}{
		"most":     {changed(func(r *Role) { r.NumReplicas = MaxReplicas }), 0, ""},
		"args":     {changed(func(r *Role) { r.NumReplicas, r.Args = MaxReplicas, []string{kib, kib} }), 0, `the plan is too large: each of the 100000 replicas of role "ra" takes 2.1 KiB (args: 2.1 KiB), and all replicas of an app together may take at most 160 MiB`},
		"macros":   {changed(func(r *Role) { r.NumReplicas, r.Args = 1000, []string{strings.Repeat("${app_id}", 200)} }), 0, "takes 195.4 KiB (args: 195.4 KiB)"},
		"env":      {changed(func(r *Role) { r.NumReplicas = 1000; r.Env.Set("A", strings.Repeat("$app_id", 200)) }), 0, "(env: 195.4 KiB)"},
		"metadata": {changed(func(r *Role) { r.NumReplicas, r.Metadata["k"] = 1000, strings.Repeat("$app_id", 200) }), 0, "(metadata: 195.4 KiB)"},
		"options":  {changed(func(r *Role) { r.NumReplicas = MaxReplicas }), 2000, "takes 2 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.app.Validate(); err != nil {
				t.Fatal(err)
			}
			err := c.app.CheckPlanLimits(macros, c.common)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
