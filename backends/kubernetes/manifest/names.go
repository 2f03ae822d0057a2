package manifest

import (
	"maps"
	"strconv"
	"strings"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "kubernetes"

const (
	maxName = 63 // bytes of a DNS label (RFC 1123), such as the host name of a pod
	// suffix is the length of the text that JobSet appends to a job's name for its pods.
	suffix = len("-0-0-xxxxx")
	// keepApp is the number of bytes to which app names are cut before role names are cut.
	keepApp = 30
)

// names holds the names of an app's objects. They are the same in every form, so that
// gang=auto can choose one after the handle is known.
type names struct {
	app   string
	roles []string // part of the names, by role index
}

// newNames returns names that are valid in every form. The name of a service, which a JobSet
// shares, must begin with a letter (RFC 1035), and a pod's host name has at most 63 bytes.
// Longer names are cut and end in a hash of the whole name.
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
			part = kube.Shorten(part+"-"+kube.Hash(role.Name), maxName, role.Name)
			part = strings.TrimLeft(part, "-")
		}
		taken[part] = true
		n.roles = append(n.roles, part)
		longest = max(longest, len(part))
		if role.NumReplicas > 1 {
			digits = max(digits, len("-")+len(strconv.Itoa(role.NumReplicas-1)))
		}
	}
	room := maxName - suffix - digits - len("-")
	forRoles := room - min(len(n.app), keepApp)
	for i, part := range n.roles {
		n.roles[i] = kube.Shorten(part, forRoles, app.Roles[i].Name)
	}
	n.app = kube.Shorten(n.app, room-min(longest, forRoles), id)
	return n
}

// replica returns the part of a name that identifies the replica, as in TorchX.
func (n names) replica(role, id int) string { return n.roles[role] + "-" + strconv.Itoa(id) }

// JobName returns the name of the Job of a role of an app, with gang=job and one Job for the role.
func JobName(name string, app *spec.App, role int) string {
	n := newNames(name, app)
	return n.app + "-" + n.roles[role]
}

// AppID returns the id of an app: namespace:name, as in TorchX.
func AppID(namespace, name string) string { return namespace + ":" + name }

// Handle returns the handle of an app of this backend.
func Handle(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}

// portName returns a valid port name (RFC 6335: 15 bytes) that is not taken yet.
func portName(name string, taken map[string]bool) string {
	const limit = 15
	valid := strings.Trim(spec.Normalize(name), "-")
	for strings.Contains(valid, "--") {
		valid = strings.ReplaceAll(valid, "--", "-")
	}
	if valid == "" || !strings.ContainsFunc(valid, func(c rune) bool { return c >= 'a' && c <= 'z' }) {
		valid = strings.Trim("port-"+valid, "-")
	}
	if len(valid) > limit || taken[valid] {
		valid = strings.TrimRight(valid[:min(len(valid), limit-kube.HashLength-1)], "-") + "-" + kube.Hash(name)
	}
	taken[valid] = true
	return valid
}

// objectLabels returns the labels of every object of the app.
func (b *builder) objectLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, b.options.labels)
	labels[kube.LabelVersion] = kube.LabelValue(b.version)
	labels[kube.LabelAppName] = kube.LabelValue(b.in.App.Name)
	labels[kube.LabelName] = kube.LabelValue(b.in.App.Name)
	labels[kube.LabelManagedBy] = kube.Manager
	labels[kube.LabelInstance] = b.names.app
	return labels
}

// podLabels returns the labels of a unit's pods.
func (b *builder) podLabels(u unit) map[string]string {
	labels := b.objectLabels()
	labels[kube.LabelRoleIndex] = strconv.Itoa(u.role)
	labels[kube.LabelRole] = kube.LabelValue(b.in.App.Roles[u.role].Name)
	if !u.shared() {
		labels[kube.LabelReplica] = strconv.Itoa(u.replica)
	}
	return labels
}

// index is the placeholder for the replica's number in a shared template. NUL cannot occur
// in an argument or variable.
const index = "\x00"

// indexVariable holds the replica's number in a shared template. It is defined before all
// other variables.
const indexVariable = "TORCHX_REPLICA_ID"

// literal escapes text so that the kubelet passes it on unchanged. The kubelet turns $$
// into $ and expands $(NAME); any other $ stays. The index becomes a reference to its
// variable.
func literal(text string) string {
	if !strings.ContainsAny(text, "$"+index) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case text[i] == '$' && i+1 < len(text) && strings.IndexByte("$("+index, text[i+1]) >= 0:
			b.WriteString("$$")
		case text[i] == index[0]:
			b.WriteString("$(" + indexVariable + ")")
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// unescape reverses literal and escapes macros of the text.
func unescape(text string) string {
	text = strings.NewReplacer("$$", "$", "$("+indexVariable+")", index).Replace(text)
	return strings.NewReplacer("$$", "$$$$", index, "${replica_id}").Replace(text)
}
