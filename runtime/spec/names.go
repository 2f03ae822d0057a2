package spec

import "strings"

const (
	idFirst = "bcdfghjklmnpqrstvwxz" // no vowels: an ID never spells a word
	idRest  = idFirst + "012345679"
)

// RandomID formats v as TorchX does: base 20 for the first character, base 29 for the others,
// least significant first. maxLen < 0 means no limit.
func RandomID(v uint64, maxLen int) string {
	if maxLen == 0 || v == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteByte(idFirst[v%uint64(len(idFirst))])
	for v /= uint64(len(idFirst)); v > 0; v /= uint64(len(idRest)) {
		b.WriteByte(idRest[v%uint64(len(idRest))])
	}
	id := b.String()
	if maxLen > 0 && len(id) > maxLen {
		id = id[:maxLen]
	}
	return id
}

// Normalize converts s to lower case and drops all characters outside [a-z0-9-] and leading '-'.
func Normalize(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, strings.ToLower(s))
	return strings.TrimLeft(s, "-")
}

// JoinPath joins search paths with ':'. It skips empty ones and trims colons at both ends.
func JoinPath(paths ...string) string {
	var parts []string
	for _, p := range paths {
		if p != "" {
			parts = append(parts, strings.Trim(p, ":"))
		}
	}
	return strings.Join(parts, ":")
}

// MetricsFile is the name of the file for metrics in the folder of an attempt's log.
const MetricsFile = "metrics.jsonl"

// MetricsMount is where containers have the file for metrics.
const MetricsMount = "/torchx/metrics.jsonl"

// MetricsInLog is the file for metrics of containers to which no file can be mounted: the standard
// output of their first process, which is their log.
const MetricsInLog = "/proc/1/fd/1"

// OutputMount is where containers and pods have the folder of outputs.
const OutputMount = "/torchx/output"

// Environment variables that reach replicas on every backend.
const (
	JobIDVariable     = "TORCHX_JOB_ID" // handle of the app
	SessionIDVariable = "TORCHX_INTERNAL_SESSION_ID"
	Rank0HostVariable = "TORCHX_RANK0_HOST"       // host of replica 0 of the first role
	ErrorFileVariable = "TORCHELASTIC_ERROR_FILE" // file to which torchelastic writes a failure as JSON
	MetricsVariable   = "TORCHX_METRICS"          // file to which a replica appends metrics as lines of JSON
	OutputVariable    = "TORCHX_OUTPUT"           // folder that all replicas share for files to keep
)
