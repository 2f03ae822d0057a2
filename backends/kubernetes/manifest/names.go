package manifest

import (
	"strconv"
	"strings"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "kubernetes"

const (
	maxName = 63 // bytes of a DNS label (RFC 1123), which host names of pods are
	// suffix is what JobSet puts behind a job's name for its pods: -0-0-xxxxx.
	suffix = len("-0-0-xxxxx")
	// keepApp is what the app's name keeps of a long name before roles do.
	keepApp = 30
)

// names are those of the objects of an app. They are the same in every form, so
// that gang=auto can choose one when the handle is known already.
type names struct {
	app   string
	roles []string // part of the names, by the role's index
	sizes []int    // replicas
}

// newNames makes names that are valid in every form: a service's name, which
// JobSet's is too, must begin with a letter (RFC 1035), and a pod's host name has at
// most 63 bytes. What is too long is cut and gets a hash of the whole.
func newNames(id string, app *spec.App) names {
	n := names{app: strings.TrimRight(spec.Normalize(id), "-")}
	if n.app == "" || n.app[0] >= '0' && n.app[0] <= '9' {
		n.app = strings.TrimRight("app-"+n.app, "-")
	}
	taken := map[string]bool{}
	longest, digits := 0, 0
	for i := range app.Roles {
		role := &app.Roles[i]
		part := strings.TrimRight(spec.Normalize(role.Name), "-")
		if part == "" || taken[part] {
			part = label.Shorten(part+"-"+label.Hash(role.Name), maxName, role.Name)
			part = strings.TrimLeft(part, "-")
		}
		taken[part] = true
		n.roles, n.sizes = append(n.roles, part), append(n.sizes, role.NumReplicas)
		longest = max(longest, len(part))
		if role.NumReplicas > 1 {
			digits = max(digits, len("-")+len(strconv.Itoa(role.NumReplicas-1)))
		}
	}
	room := maxName - suffix - digits - len("-")
	forRoles := room - min(len(n.app), keepApp)
	for i, part := range n.roles {
		n.roles[i] = label.Shorten(part, forRoles, app.Roles[i].Name)
	}
	n.app = label.Shorten(n.app, room-min(longest, forRoles), id)
	return n
}

// replica is the part of a name that says which replica it is, as in TorchX.
func (n names) replica(role, id int) string { return n.roles[role] + "-" + strconv.Itoa(id) }

// appID is the id of an app: namespace:name, as in TorchX.
func AppID(namespace, name string) string { return namespace + ":" + name }

// handleOf is the handle of an app of this backend.
func Handle(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}

// portName makes names of ports valid (RFC 6335: 15 bytes) and different from
// those that are taken.
func portName(name string, taken map[string]bool) string {
	const most = 15
	valid := strings.Trim(spec.Normalize(name), "-")
	for strings.Contains(valid, "--") {
		valid = strings.ReplaceAll(valid, "--", "-")
	}
	if valid == "" || !strings.ContainsFunc(valid, func(c rune) bool { return c >= 'a' && c <= 'z' }) {
		valid = strings.Trim("port-"+valid, "-")
	}
	if len(valid) > most || taken[valid] {
		valid = strings.TrimRight(valid[:min(len(valid), most-label.HashLength-1)], "-") + "-" + label.Hash(name)
	}
	taken[valid] = true
	return valid
}
