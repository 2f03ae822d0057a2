package spec

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Session is the session part of every handle that this program prints.
const Session = "torchx"

// Handle names an app: backend://session/app_id.
type Handle struct {
	Backend, Session, AppID string
}

// greedy, as in TorchX: the session may be empty.
var handlePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^(.+)://(.*)/(.+)$`) })

// ValidAppID reports whether an app can have the id: not empty, without a slash, which ends
// it in handles, and without control characters.
func ValidAppID(id string) bool {
	return id != "" && !strings.Contains(id, "/") && !strings.ContainsFunc(id, unicode.IsControl)
}

// ParseHandle splits text into its parts, as TorchX does: the session may have slashes.
func ParseHandle(text string) (Handle, error) {
	m := handlePattern().FindStringSubmatch(text)
	if m == nil {
		return Handle{}, fmt.Errorf("%s is not of the form: <scheduler_backend>://<session_name>/<app_id>", text)
	}
	return Handle{m[1], m[2], m[3]}, nil
}

// String returns the canonical text of the handle.
func (h Handle) String() string { return h.Backend + "://" + h.Session + "/" + h.AppID }
