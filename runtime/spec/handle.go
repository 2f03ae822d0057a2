package spec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Session is the session part of every handle that torchx prints.
const Session = "torchx"

// Handle identifies an app: backend://session/app_id.
type Handle struct {
	Backend, Session, AppID string
}

// Greedy, as in TorchX: the session may be empty.
var handlePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^(.+)://(.*)/(.+)$`) })

// ValidAppID reports whether id can identify an app: not empty, without a slash, which is a
// separator in handles, and without control characters.
func ValidAppID(id string) bool {
	return id != "" && !strings.Contains(id, "/") && !strings.ContainsFunc(id, unicode.IsControl)
}

// ParseHandle parses a handle as TorchX does: the session may contain slashes.
func ParseHandle(text string) (Handle, error) {
	m := handlePattern().FindStringSubmatch(text)
	if m == nil {
		return Handle{}, fmt.Errorf("%s is not of the form: <scheduler_backend>://<session_name>/<app_id>", text)
	}
	return Handle{m[1], m[2], m[3]}, nil
}

// String returns the handle's canonical text.
func (h Handle) String() string { return h.Backend + "://" + h.Session + "/" + h.AppID }
