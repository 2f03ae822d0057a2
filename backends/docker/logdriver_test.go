//go:build unix

package docker

import (
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/enginetest"
)

// A log driver that cannot be read is told at the start if the engine names it, and always in the
// log; the app ends as it does otherwise. What the engine also keeps for itself is read.
func TestLogDrivers(t *testing.T) {
	t.Parallel()
	needDocker(t, "it has other log drivers")
	const warning = `the log driver "none" of the engine cannot be read`
	syslog := map[string]string{"syslog-address": "udp://127.0.0.1:9"}
	uncached := map[string]string{"syslog-address": "udp://127.0.0.1:9", "cache-disabled": "true"}
	f, none := onEngine(t, real), onEngine(t, enginetest.Need(t, enginetest.Options{Args: []string{"--log-driver", "none"}}))
	tests := []struct {
		name         string
		on           *fixture
		driver       container.LogConfig
		text, notice string
		warning      string
	}{
		{"the engine's default none", none, container.LogConfig{}, "", gapUnreadable + "configured logging driver does not support reading", warning},
		{"none", f, container.LogConfig{Type: "none"}, "", gapUnreadable + "configured logging driver does not support reading", ""},
		{"syslog", f, container.LogConfig{Type: "syslog", Config: syslog}, "one\n", "", ""},
		{"syslog alone", f, container.LogConfig{Type: "syslog", Config: uncached}, "", gapUnreadable, ""},
	}
	for _, test := range tests {
		p := test.on.plan(shell(`echo one; exit 7`))
		var warnings []string
		p.Progress = func(s backend.Step) {
			if s.Warning != "" {
				warnings = append(warnings, s.Warning)
			}
		}
		p.Request.(*Request).Containers[0].HostConfig.LogConfig = test.driver
		test.on.do(test.on.b.Submit(f.ctx, p))
		if s := test.on.wait(p.ID); s.State != spec.Failed || *s.ExitCode != 7 {
			t.Errorf("%s: got %+v, want FAILED with 7", test.name, s)
		}
		text, notices := test.on.log(p.ID, 0)
		if text != test.text || !strings.HasPrefix(strings.Join(notices, "+"), test.notice) || len(notices) > 1 || test.notice == "" && len(notices) > 0 {
			t.Errorf("%s: got %q %q, want %q and the notice %q", test.name, text, notices, test.text, test.notice)
		}
		if got := strings.Join(warnings, "+"); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
			t.Errorf("%s: got warnings %q, want %q", test.name, got, test.warning)
		}
	}
}

// Engines before 20.10 read few log drivers.
func TestUnreadableLog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		driver, api string
		readable    bool
	}{{"none", "1.50", false}, {"syslog", "1.41", true}, {"syslog", "1.40", false}, {"json-file", "1.40", true}, {"local", "1.40", true}, {"journald", "1.40", true}} {
		if got := unreadableLog(test.driver, test.api); (got == "") != test.readable {
			t.Errorf("%s with API %s: got %q", test.driver, test.api, got)
		}
	}
}
