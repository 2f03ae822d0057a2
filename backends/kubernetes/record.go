package kubernetes

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

const (
	// maxAnnotations is how many bytes all annotations of an object may have
	// (k8s.io/apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB).
	maxAnnotations = 256 << 10
	// plainRecord is how many bytes of a record are left readable.
	plainRecord = 4 << 10
)

// record is what the annotation label.App holds. Variables are in it as they are in
// the pods, which whoever reads the one may read too; where this machine keeps its
// kubeconfig is left out.
type record struct {
	App       *spec.App      `json:"app"`
	Cfg       backend.Config `json:"cfg,omitempty"`
	Component string         `json:"component,omitempty"`
	Args      []string       `json:"args,omitempty"`
}

// remember writes onto the main object what is submitted.
func (r *Request) remember(p *backend.Plan) error {
	cfg := maps.Clone(p.Cfg)
	for k, v := range cfg {
		if v == nil || k == "kubeconfig" || k == "context" {
			delete(cfg, k)
		}
	}
	text, err := encodeRecord(record{p.App, cfg, p.Component, p.Args})
	if err != nil {
		return err
	}
	meta := r.Objects[0].Meta()
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	delete(meta.Annotations, label.App)
	used := len(label.App) + len(text)
	for k, v := range meta.Annotations {
		used += len(k) + len(v)
	}
	const others = 1 << 10 // ours, and what controllers add
	if used+others > maxAnnotations {
		p.Progress.Tell(backend.Step{Warning: "the app is too large to be kept with its job: only the history of this machine can describe all of it"})
		return nil
	}
	meta.Annotations[label.App] = text
	return nil
}

func encodeRecord(r record) (string, error) {
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
	for _, c := range []io.Closer{zip, coder} {
		if err == nil {
			err = c.Close()
		}
	}
	return packed.String(), err
}

// maxRecord bounds what a record unpacks to: anybody can write one.
const maxRecord = 64 << 20

func decodeRecord(text string) (*record, error) {
	var in io.Reader = strings.NewReader(text)
	if !strings.HasPrefix(text, "{") {
		zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, in))
		if err != nil {
			return nil, err
		}
		in = io.LimitReader(zip, maxRecord)
	}
	r := &record{}
	if err := json.NewDecoder(in).Decode(r); err != nil {
		return nil, err
	}
	if r.App == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return r, nil
}

// Submitted returns what the annotation of an app says, or what its pods' templates
// tell. Errors: backends.ErrNotFound, backends.ErrUnavailable.
func (b *Backend) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	for _, meta := range a.meta() {
		if r, err := decodeRecord(meta.Annotations[label.App]); err == nil {
			return &backend.Submission{App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args}, nil
		}
	}
	return &backend.Submission{App: a.rebuild(t.name), Partial: true}, nil
}

// meta are the metadata of the main objects.
func (a *app) meta() (all []*metav1.ObjectMeta) {
	switch a.form {
	case formVolcano:
		return append(all, &a.volcano.ObjectMeta)
	case formJobSet:
		return append(all, &a.jobSet.ObjectMeta)
	}
	for i := range a.jobs {
		all = append(all, &a.jobs[i].ObjectMeta)
	}
	return all
}
