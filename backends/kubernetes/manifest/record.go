package manifest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

const (
	// maxAnnotations is the limit for the bytes of all annotations of an object
	// (k8s.io/apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB).
	maxAnnotations = 256 << 10
	// plainRecord is the size up to which a record is not compressed.
	plainRecord = 4 << 10
	// maxRecord bounds the uncompressed bytes of a record: any user may write one.
	maxRecord = 64 << 20
)

// Record is the value of the annotation kube.AnnotationApp. Its environment variables can be read by
// the users who can read those of the pods. It leaves out the path of the kubeconfig.
type Record struct {
	App       *spec.App      `json:"app"`
	Cfg       backend.Config `json:"cfg,omitempty"`
	Component string         `json:"component,omitempty"`
	Args      []string       `json:"args,omitempty"`
	Origin
}

// Origin is what the record shows of a backend.Plan's.
type Origin struct {
	ParentRunID string `json:"parent_run_id,omitempty"`
	RerunOf     string `json:"rerun_of,omitempty"`
	User        string `json:"user,omitempty"` // who submitted the app
	history.Labels
}

// AddRecord annotates the main object with the submission. If the app is too large for an
// annotation, it reports a warning instead.
func (r *Request) AddRecord(p *backend.Plan) error {
	cfg := maps.Clone(p.Cfg)
	dropTarget(cfg)
	var origin Origin
	if len(p.Record) > 0 {
		if err := json.Unmarshal(p.Record, &origin); err != nil {
			return fmt.Errorf("read the record of app %s: %w", p.ID, err)
		}
	}
	text, err := Record{p.App, cfg, p.Component, p.Args, origin}.encode()
	if err != nil {
		return err
	}
	if !annotate(r.Objects[0].Meta(), text) {
		p.Progress.Tell(backend.Step{Warning: "the app is too large to be stored with its job: only this machine can describe all of it"})
		return nil
	}
	for _, o := range r.Objects[1:] { // ttl_seconds and other clients delete each Job alone
		if job, ok := o.(*Job); ok && len(text)*len(r.Objects) <= maxCopies {
			annotate(job.Meta(), text)
		}
	}
	return nil
}

// maxCopies bounds the bytes of a record in all Jobs of an app.
const maxCopies = 1 << 20

// annotate adds a record to an object unless it is too large.
func annotate(meta *metav1.ObjectMeta, text string) bool {
	delete(meta.Annotations, kube.AnnotationApp)
	used := len(kube.AnnotationApp) + len(text)
	for k, v := range meta.Annotations {
		used += len(k) + len(v)
	}
	const reserve = 1 << 10 // for annotations of torchx and of controllers
	if used+reserve > maxAnnotations {
		return false
	}
	metav1.SetMetaDataAnnotation(meta, kube.AnnotationApp, text)
	return true
}

// dropTarget removes the options that locate the cluster, and those without a value.
func dropTarget(cfg backend.Config) {
	maps.DeleteFunc(cfg, func(k string, v any) bool { return v == nil || k == "kubeconfig" || k == "context" })
}

// encode returns the record as JSON, or as base64 of its gzip if it is long.
func (r Record) encode() (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return "", fmt.Errorf("encode the app for its annotation: %w", err)
	}
	if b.Len() <= plainRecord {
		return strings.TrimSpace(b.String()), nil
	}
	var packed strings.Builder
	coder := base64.NewEncoder(base64.StdEncoding, &packed)
	zip := gzip.NewWriter(coder)
	_, err := zip.Write(b.Bytes())
	err = errors.Join(err, zip.Close(), coder.Close())
	return packed.String(), err
}

// DecodeRecord reads the value of the annotation kube.AnnotationApp.
func DecodeRecord(text string) (*Record, error) {
	var in io.Reader = strings.NewReader(text)
	if !strings.HasPrefix(text, "{") {
		zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, in))
		if err != nil {
			return nil, err
		}
		in = io.LimitReader(zip, maxRecord)
	}
	r := &Record{}
	if err := json.NewDecoder(in).Decode(r); err != nil {
		return nil, err
	}
	if r.App == nil {
		return nil, io.ErrUnexpectedEOF
	}
	dropTarget(r.Cfg) // any user of the cluster may have written it
	return r, r.App.CheckLimits()
}

// Rebuild returns the app that pod templates describe. Roles come from labels; a template
// without them is a role.
func Rebuild(name string, pods []PodSet) *spec.App {
	app := &spec.App{Name: name, Roles: []spec.Role{}, Metadata: map[string]any{}}
	position, index := map[string]int{}, map[string]int{}
	for _, p := range pods {
		role := cmp.Or(p.Labels[kube.LabelRole], p.Name)
		if n, ok := position[role]; ok {
			app.Roles[n].NumReplicas += p.Replicas
			continue
		}
		position[role] = len(app.Roles)
		index[role], _ = strconv.Atoi(p.Labels[kube.LabelRoleIndex])
		app.Roles = append(app.Roles, p.role(role))
		app.Name = cmp.Or(p.Labels[kube.LabelAppName], app.Name)
	}
	slices.SortStableFunc(app.Roles, func(a, b spec.Role) int { return cmp.Compare(index[a.Name], index[b.Name]) })
	return app
}

// role reads a role from the first container of a template.
func (p PodSet) role(name string) spec.Role {
	role := spec.NewRole(name, spec.None)
	role.NumReplicas = p.Replicas
	if len(p.Spec.Containers) == 0 {
		return role
	}
	c := &p.Spec.Containers[0]
	role.Image = c.Image
	if command := slices.Concat(c.Command, c.Args); len(command) > 0 {
		role.Entrypoint = unescape(command[0])
		for _, arg := range command[1:] {
			role.Args = append(role.Args, unescape(arg))
		}
	}
	for _, e := range c.Env {
		switch {
		case e.Name == indexVariable:
		case e.ValueFrom == nil:
			role.Env.Set(e.Name, unescape(e.Value))
		case e.ValueFrom.FieldRef != nil:
			role.Env.Set(e.Name, fieldPath+e.ValueFrom.FieldRef.FieldPath)
		}
	}
	for _, p := range c.Ports {
		if p.Name != "" {
			role.PortMap.Set(p.Name, int(p.ContainerPort))
		}
	}
	role.Resource = resourceOf(c.Resources.Limits)
	return role
}

// resourceOf returns the resource that limits were made from.
func resourceOf(limits corev1.ResourceList) (r spec.Resource) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		quantity := limits[name]
		switch name {
		case corev1.ResourceCPU:
			r.CPU = float64(quantity.MilliValue()) / 1000
		case corev1.ResourceMemory:
			r.MemMB = int(quantity.Value() / 1e6)
		case defaultGPU:
			r.GPU = int(quantity.Value())
		default:
			r.Devices.Set(string(name), int(quantity.Value()))
		}
	}
	return r
}
