package spec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// ordered returns an app of two roles, db and web, with values of OrderKey as JSON, "" for
// none.
func ordered(t *testing.T, db, web string) *App {
	t.Helper()
	app := &App{Name: "app"}
	for name, text := range map[string]string{"db": db, "web": web} {
		r := NewRole(name, None)
		r.Entrypoint = "sh"
		r.PortMap = Map[int]{{"http", 8080}, {"admin", 9090}}
		if text != "" {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			r.Metadata = map[string]any{OrderKey: v, "kubernetes": map[string]any{"V1Pod": "x"}}
		}
		app.Roles = append(app.Roles, r)
	}
	return app
}

func TestOrder(t *testing.T) {
	t.Parallel()
	app := ordered(t, `{"ready": {"port": "http", "path": "/up", "timeout": 30, "initial_delay": 0.5, "period": 2}}`,
		`{"depends_on": {"db": "ready"}, "ready": {"log": "up [0-9]+$"}}`)
	if err := app.Validate(); err != nil {
		t.Fatal(err)
	}
	db, err := app.Role("db").Order()
	want := &Probe{Port: "http", Path: "/up", Timeout: 30 * time.Second, InitialDelay: time.Second / 2, Period: 2 * time.Second}
	if err != nil || !reflect.DeepEqual(db.Ready, want) || db.DependsOn != nil {
		t.Errorf("db: got %+v, %v, want %+v", db.Ready, err, want)
	}
	web, err := app.Role("web").Order()
	if err != nil || !reflect.DeepEqual(web.DependsOn, []Dependency{{"db", DependsReady}}) || !web.Ready.Log.MatchString("is up 12") {
		t.Errorf("web: got %+v, %v, want db ready and a log probe", web, err)
	}
	if web.Ready.Period != DefaultProbePeriod || web.Ready.Timeout != 0 {
		t.Errorf("got defaults %+v, want the default period and no timeout", web.Ready)
	}
	short, err := ordered(t, "", `{"depends_on": ["db", "db"]}`).Role("web").Order()
	if err != nil || !reflect.DeepEqual(short.DependsOn, []Dependency{{"db", DependsStarted}}) {
		t.Errorf("short form: got %+v, %v, want db started", short, err)
	}
	if ordered(t, "", "").Ordered() || !app.Ordered() {
		t.Error("Ordered: got the same for apps with and without order")
	}
}

func TestOrderErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, db, web, want string }{
		{"no dict", `["db"]`, "", `role db: metadata["torchx"] is a list, want a dict with depends_on, ready, sidecar`},
		{"unknown key", `{"depend_on": {}}`, "", `unknown key "depend_on"`},
		{"unknown role", "", `{"depends_on": {"cache": "started"}}`, `role web depends on unknown role "cache", want one of: `},
		{"unknown condition", "", `{"depends_on": {"db": "healthy"}}`, `["depends_on"]["db"] must be one of ["started" "ready" "succeeded"]`},
		{"no probe", "", `{"depends_on": {"db": "ready"}}`, `role web waits for role db to be ready, but db has no probe: add metadata={"torchx": {"ready": ...}} to db, or wait for "started"`},
		{"itself", `{"depends_on": ["db"]}`, "", "roles wait for each other: db -> db"},
		{"cycle", `{"depends_on": ["web"]}`, `{"depends_on": {"db": "succeeded"}}`, "roles wait for each other: "},
		{"sidecar of no bool", `{"sidecar": "yes"}`, "", `role db: metadata["torchx"]["sidecar"] is a string, want True or False`},
		{"only sidecars", `{"sidecar": true}`, `{"sidecar": true}`, `every role is a sidecar (`},
		{"end of a sidecar", `{"sidecar": true}`, `{"depends_on": {"db": "succeeded"}}`, `role web waits for role db to succeed, but db is a sidecar, which ends last: wait for "started" or "ready"`},
		{"empty probe", `{"ready": {}}`, "", `must have one of "port", "log" and "healthcheck"`},
		{"two probes", `{"ready": {"port": 1, "log": "x"}}`, "", `must have one of "port", "log" and "healthcheck"`},
		{"no healthcheck", `{"ready": {"healthcheck": false}}`, "", `["ready"]["healthcheck"] is false, want True`},
		{"period of a healthcheck", `{"ready": {"healthcheck": true, "period": 1}}`, "", `"period" has no effect with "healthcheck"`},
		{"unknown port", `{"ready": {"port": "grpc"}}`, "", `"grpc" is not in the role's port_map, which has http, admin`},
		{"bad port", `{"ready": {"port": 70000}}`, "", `is 70000, want a name of port_map or a number`},
		{"half a port", `{"ready": {"port": 80.5}}`, "", `is 80.5, want a name of port_map or a number`},
		{"bad pattern", `{"ready": {"log": "("}}`, "", `["ready"]["log"]: error parsing regexp`},
		{"path of a log", `{"ready": {"log": "x", "path": "/"}}`, "", `"path" needs "port"`},
		{"path that would end the request line", `{"ready": {"port": 80, "path": "/ HTTP/1.1\r\nX: y"}}`, "", `must be a URL path`},
		{"no time", `{"ready": {"port": 80, "timeout": "30s"}}`, "", `["timeout"] is 30s, want a number of seconds`},
		{"no number of replicas", `{"max_parallel": "2"}`, "", `role db: metadata["torchx"]["max_parallel"] is "2", want a whole number from 1`},
		{"no replica", `{"max_parallel": 0}`, "", `is "0", want a whole number from 1`},
		{"half a replica", `{"max_parallel": 1.5}`, "", `is "1.5", want a whole number from 1`},
		{"no time at all", `{"ready": {"port": 80, "period": 0}}`, "", `["period"] is 0, want a number of seconds`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := ordered(t, test.db, test.web).Validate()
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %s", err, test.want)
			}
		})
	}
}
