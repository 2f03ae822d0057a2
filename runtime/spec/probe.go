package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// DefaultProbePeriod is the default of the longest pause between two checks.
const DefaultProbePeriod = time.Second

// maxSeconds keeps durations far below the range of an int64 of nanoseconds.
const maxSeconds = 366 * 24 * 3600

// Probe determines when a replica is ready. It checks a port, the log or the container's health:
//
//	{"port": "http"}                          # a TCP connection to that port of port_map succeeds
//	{"port": 8080, "path": "/health"}         # GET answers with a status from 200 to 399
//	{"log": "listening on port [0-9]+"}       # a line of either stream has a match (RE2)
//	{"healthcheck": True}                     # the HEALTHCHECK of its image passes (docker)
//
// The first check is after initial_delay seconds (default 0); the pauses between checks grow
// to period seconds (default 1). Without timeout there is no time limit.
type Probe struct {
	Port   string // name in port_map; "": Number or Log
	Number int    // port number, from 1 to 65535
	Path   string // path of an HTTP request; "": a connection is enough
	Log    *regexp.Regexp
	// Healthcheck means that the engine of the container checks it, as its image says.
	Healthcheck bool

	InitialDelay time.Duration
	Period       time.Duration
	Timeout      time.Duration // from the start of the attempt; 0: none
}

// ByPort reports whether the probe checks a port.
func (p *Probe) ByPort() bool { return p.Log == nil && !p.Healthcheck }

// String describes what is checked: "port http".
func (p *Probe) String() string {
	if p.Healthcheck {
		return "healthcheck of its image"
	}
	if p.Log != nil {
		return fmt.Sprintf("log line %q", p.Log)
	}
	port := p.Port
	if port == "" {
		port = fmt.Sprint(p.Number)
	}
	if p.Path != "" {
		return "path " + p.Path + " of port " + port
	}
	return "port " + port
}

// Keys of a probe.
const (
	portKey    = "port"
	pathKey    = "path"
	logKey     = "log"
	healthKey  = "healthcheck"
	delayKey   = "initial_delay"
	periodKey  = "period"
	timeoutKey = "timeout"
)

func parseProbe(at string, v any, ports Map[int]) (*Probe, error) {
	values, err := object(at, v, portKey, pathKey, logKey, healthKey, delayKey, periodKey, timeoutKey)
	if err != nil {
		return nil, err
	}
	if health, ok := values[healthKey]; ok {
		return parseHealthcheck(at, health, values)
	}
	port, byPort := values[portKey]
	pattern, byLog := values[logKey]
	if byPort == byLog {
		return nil, fmt.Errorf("%s must have one of %q, %q and %q", at, portKey, logKey, healthKey)
	}
	p := &Probe{Period: DefaultProbePeriod}
	if byPort {
		err = p.setPort(at, port, ports)
	} else {
		err = p.setLog(at, pattern)
	}
	if err == nil {
		err = p.setPath(at, values)
	}
	for _, t := range []struct {
		key      string
		d        *time.Duration
		positive bool
	}{{delayKey, &p.InitialDelay, false}, {periodKey, &p.Period, true}, {timeoutKey, &p.Timeout, true}} {
		if v, ok := values[t.key]; ok && err == nil {
			*t.d, err = seconds(fmt.Sprintf("%s[%q]", at, t.key), v, t.positive)
		}
	}
	return p, err
}

// parseHealthcheck returns a probe by the image's own check, which has its own times.
func parseHealthcheck(at string, health any, values map[string]any) (*Probe, error) {
	if health != true {
		return nil, fmt.Errorf("%s[%q] is %v, want True", at, healthKey, health)
	}
	p := &Probe{Healthcheck: true}
	for key, v := range values {
		switch key {
		case healthKey:
		case timeoutKey:
			var err error
			if p.Timeout, err = seconds(fmt.Sprintf("%s[%q]", at, key), v, true); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s: %q has no effect with %q: the image says what is checked and how often", at, key, healthKey)
		}
	}
	return p, nil
}

func (p *Probe) setPort(at string, v any, ports Map[int]) error {
	if name, ok := v.(string); ok {
		if _, ok := ports.Get(name); !ok {
			return fmt.Errorf("%s[%q]: %q is not in the role's port_map, which %s", at, portKey,
				name, knownPorts(ports))
		}
		p.Port = name
		return nil
	}
	n, ok := number(v)
	if !ok || n != math.Trunc(n) || n < 1 || n > 65535 {
		return fmt.Errorf("%s[%q] is %v, want a name of port_map or a number from 1 to 65535", at, portKey, v)
	}
	p.Number = int(n)
	return nil
}

func knownPorts(ports Map[int]) string {
	if len(ports) == 0 {
		return "is empty"
	}
	names := make([]string, len(ports))
	for i, e := range ports {
		names[i] = e.Key
	}
	return "has " + strings.Join(names, ", ")
}

func (p *Probe) setLog(at string, v any) error {
	text, ok := v.(string)
	if !ok || text == "" {
		return fmt.Errorf("%s[%q] must be a regular expression (RE2)", at, logKey)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return fmt.Errorf("%s[%q]: %w", at, logKey, err)
	}
	p.Log = re
	return nil
}

func (p *Probe) setPath(at string, values map[string]any) error {
	v, ok := values[pathKey]
	if !ok {
		return nil
	}
	path, _ := v.(string)
	switch {
	case p.Log != nil:
		return fmt.Errorf("%s: %q needs %q", at, pathKey, portKey)
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t\r\n") || hasControl(path):
		return fmt.Errorf("%s[%q] must be a URL path such as \"/health\"", at, pathKey)
	}
	p.Path = path
	return nil
}

func seconds(at string, v any, positive bool) (time.Duration, error) {
	n, ok := number(v)
	inside := n >= 0 && n <= maxSeconds // false for NaN
	if !ok || !inside || positive && n == 0 {
		return 0, fmt.Errorf("%s is %v, want a number of seconds", at, v)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// number converts the types that numbers of Starlark or JSON have in metadata.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}
