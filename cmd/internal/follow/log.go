package follow

import (
	"regexp"

	"torchx/runtime/backend"
)

// LogQuery is what the flags of `log` say, understood.
type LogQuery struct {
	Read  backend.LogOptions
	Regex *regexp.Regexp
	Fresh bool // only what came since the last look
}
