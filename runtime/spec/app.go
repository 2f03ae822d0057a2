// Package spec defines the types that all packages share: App, Role, Resource, Mount, State,
// Status, Handle and the macro rules. It is plain data with JSON forms, imports only the
// standard library and package units, and depends on neither Starlark nor any backend.
package spec

import "slices"

// Placeholders for absent values, as TorchX prints them.
const (
	Missing = "<MISSING>" // no entrypoint
	None    = "<NONE>"    // no image
	Unclear = "<UNKNOWN>" // unknown
)

// App is a set of roles that start and end together: TorchX's AppDef.
type App struct {
	Name     string         `json:"name"`
	Roles    []Role         `json:"roles"`
	Metadata map[string]any `json:"metadata"`
}

// Role is one kind of process of an app, run as NumReplicas identical replicas.
type Role struct {
	Name        string         `json:"name"`
	Image       string         `json:"image"`
	MinReplicas *int           `json:"min_replicas"` // nil: all replicas
	Entrypoint  string         `json:"entrypoint"`
	Args        []string       `json:"args"`
	Env         Map[string]    `json:"env"`
	NumReplicas int            `json:"num_replicas"`
	MaxRetries  int            `json:"max_retries"`
	RetryPolicy RetryPolicy    `json:"retry_policy"`
	Resource    Resource       `json:"resource"`
	PortMap     Map[int]       `json:"port_map"`
	Metadata    map[string]any `json:"metadata"`
	Mounts      []Mount        `json:"mounts"`
	Workspace   *Workspace     `json:"workspace"`
	PreProc     PreProc        `json:"-"`
}

// PreProc rewrites a planned request (its JSON form) for one backend. It must be pure, since
// dry runs call it. Its errors are shown to the user unchanged.
type PreProc func(backend string, request []byte) ([]byte, error)

// Workspace maps local project folders to sub-folders of the image ("" is its root).
type Workspace struct {
	Projects Map[string] `json:"projects"`
}

// RetryPolicy says what restarts when a replica fails.
type RetryPolicy string

// The retry policies of TorchX.
const (
	RetryReplica     RetryPolicy = "REPLICA"     // only the failed replica
	RetryRole        RetryPolicy = "ROLE"        // every replica of its role
	RetryApplication RetryPolicy = "APPLICATION" // every replica of the app
)

// RetryPolicies lists the valid policies.
var RetryPolicies = []RetryPolicy{RetryReplica, RetryRole, RetryApplication}

// NewRole returns a role with TorchX's defaults.
func NewRole(name, image string) Role {
	return Role{
		Name: name, Image: image, Entrypoint: Missing,
		Args: []string{}, Env: Map[string]{}, NumReplicas: 1,
		RetryPolicy: RetryApplication, Resource: NullResource(),
		PortMap: Map[int]{}, Metadata: map[string]any{}, Mounts: []Mount{},
	}
}

// Role returns the role with a name, or nil.
func (a *App) Role(name string) *Role {
	if i := slices.IndexFunc(a.Roles, func(r Role) bool { return r.Name == name }); i >= 0 {
		return &a.Roles[i]
	}
	return nil
}

// RoleNames returns the names of the roles in order.
func (a *App) RoleNames() []string {
	names := make([]string, len(a.Roles))
	for i := range a.Roles {
		names[i] = a.Roles[i].Name
	}
	return names
}

// Clone returns a deep copy.
func (a *App) Clone() *App {
	c := *a
	c.Metadata = cloneMap(a.Metadata)
	c.Roles = make([]Role, len(a.Roles))
	for i := range a.Roles {
		c.Roles[i] = a.Roles[i].clone()
	}
	return &c
}

func (r Role) clone() Role {
	if r.MinReplicas != nil {
		n := *r.MinReplicas
		r.MinReplicas = &n
	}
	r.Args = append([]string{}, r.Args...)
	r.Env = r.Env.Clone()
	r.PortMap = r.PortMap.Clone()
	r.Resource = r.Resource.Clone()
	r.Metadata = cloneMap(r.Metadata)
	r.Mounts = append([]Mount{}, r.Mounts...)
	if r.Workspace != nil {
		r.Workspace = &Workspace{Projects: r.Workspace.Projects.Clone()}
	}
	return r
}

// Tuple is a list in role metadata that replaces a list in a Kubernetes overlay instead of
// extending it. Its JSON form is a list.
type Tuple []any

func cloneMap(m map[string]any) map[string]any {
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = cloneValue(v)
	}
	return c
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneMap(v)
	case []any:
		return cloneList(v)
	case Tuple:
		return Tuple(cloneList(v))
	default:
		return v
	}
}

func cloneList(l []any) []any {
	c := make([]any, len(l))
	for i, v := range l {
		c[i] = cloneValue(v)
	}
	return c
}
