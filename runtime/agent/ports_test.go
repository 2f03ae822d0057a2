package agent

import (
	"strings"
	"testing"

	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// A role gets the ports of its dependencies; they stay the same when those restart by
// themselves.
func TestPortsOfDependencies(t *testing.T) {
	t.Parallel()
	g := policy.New(&spec.App{Name: "app", Roles: []spec.Role{
		role("db", 1, func(r *spec.Role) {
			ordered("ready", map[string]any{"port": 80, "timeout": 30}, retries(spec.RetryRole, 1))(r)
			r.PortMap = spec.Map[int]{{Key: "http", Value: 80}}
		}),
		role("web", 1, func(r *spec.Role) {
			ordered("depends_on", map[string]any{"db": "ready"}, nil)(r)
			r.PortMap = spec.Map[int]{{Key: "http", Value: 80}}
		}),
	}}, true)
	p := newPorts()
	db, web := p.env(g, g.ByKey[spec.Replica{Role: "db"}]), p.env(g, g.ByKey[spec.Replica{Role: "web"}])
	port, ok := strings.CutPrefix(db[0], "TORCHX_PORT_HTTP=")
	if len(db) != 1 || !ok || len(web) != 2 || web[0] != "TORCHX_PORT_DB_HTTP="+port || web[1] == db[0] {
		t.Errorf("got env of db %q, of web %q", db, web)
	}
	if restarted := p.env(g, g.ByKey[spec.Replica{Role: "db"}]); restarted[0] != db[0] {
		t.Errorf("db after a restart: got %q, want %q", restarted, db)
	}
}
