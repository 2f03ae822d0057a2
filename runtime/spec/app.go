// Package spec holds the words every other package speaks: App, Role,
// Resource, Mount, State, Status, Handle and the macro rules. It is plain data
// with JSON forms, imports the standard library and package units only, and knows neither
// Starlark nor any backend.
package spec

import "slices"

// Sentinel texts that stand for "not given", as TorchX prints them.
const (
	Missing = "<MISSING>" // an entry point that was never set
	None    = "<NONE>"    // no image
	Unclear = "<UNKNOWN>" // what cannot be known
)

// App is a set of roles that start and end together: the AppDef of TorchX.
type App struct {
	Name     string         `json:"name"`
	Roles    []Role         `json:"roles"`
	Metadata map[string]any `json:"metadata"`
}

// Role is one kind of process of an app, run as NumReplicas equal replicas.
type Role struct {
	Name        string         `json:"name"`
	Image       string         `json:"image"`
	MinReplicas *int           `json:"min_replicas"` // nil: all are needed
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

// PreProc rewrites a planned request (its JSON form) for one backend. It is
// pure: it may be called for a dry run. Errors are shown to the user as they are.
type PreProc func(backend string, request []byte) ([]byte, error)

// Workspace maps local project folders to sub-folders of the image ("" is its root).
type Workspace struct {
	Projects Map[string] `json:"projects"`
}

// RetryPolicy says what is started again when a replica fails.
type RetryPolicy string

// The retry policies of TorchX.
const (
	RetryReplica     RetryPolicy = "REPLICA"     // only the failed replica
	RetryRole        RetryPolicy = "ROLE"        // every replica of its role
	RetryApplication RetryPolicy = "APPLICATION" // every replica of the app
)

// RetryPolicies lists the valid policies.
var RetryPolicies = []RetryPolicy{RetryReplica, RetryRole, RetryApplication}

// NewRole returns a role with the defaults of TorchX (name and image are the caller's).
func NewRole(name, image string) Role {
	return Role{
		Name: name, Image: image, Entrypoint: Missing,
		Args: []string{}, Env: Map[string]{}, NumReplicas: 1,
		RetryPolicy: RetryApplication, Resource: NullResource(),
		PortMap: Map[int]{}, Metadata: map[string]any{}, Mounts: []Mount{},
	}
}

// Role returns the role called name, or nil.
func (a *App) Role(name string) *Role {
	if i := slices.IndexFunc(a.Roles, func(r Role) bool { return r.Name == name }); i >= 0 {
		return &a.Roles[i]
	}
	return nil
}

// RoleNames lists the names of the roles in their order.
func (a *App) RoleNames() []string {
	names := make([]string, len(a.Roles))
	for i := range a.Roles {
		names[i] = a.Roles[i].Name
	}
	return names
}

// Clone returns a deep copy, so that planning never changes its caller's app.
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

// Tuple is a list in role metadata that replaces, rather than extends, what a
// Kubernetes overlay finds. It prints as a JSON list.
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
