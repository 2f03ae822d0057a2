package manifest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
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
	// plainRecord is how many bytes of a record stay uncompressed.
	plainRecord = 4 << 10
	// maxRecord bounds the bytes that a record unpacks to: anybody can write one.
	maxRecord = 64 << 20
)

// Record is the value of the annotation label.App. It has variables as the pods have
// them, which the same users may read, and leaves out the path of the kubeconfig.
type Record struct {
	App       *spec.App      `json:"app"`
	Cfg       backend.Config `json:"cfg,omitempty"`
	Component string         `json:"component,omitempty"`
	Args      []string       `json:"args,omitempty"`
}

// AddRecord annotates the main object with what is submitted. An app that is too large
// for an annotation gets none, with a warning.
func (r *Request) AddRecord(p *backend.Plan) error {
	cfg := maps.Clone(p.Cfg)
	maps.DeleteFunc(cfg, func(k string, v any) bool { return v == nil || k == "kubeconfig" || k == "context" })
	text, err := Record{p.App, cfg, p.Component, p.Args}.encode()
	if err != nil {
		return err
	}
	meta := r.Objects[0].Meta()
	delete(meta.Annotations, label.App)
	used := len(label.App) + len(text)
	for k, v := range meta.Annotations {
		used += len(k) + len(v)
	}
	const others = 1 << 10 // ours, and those that controllers add
	if used+others > maxAnnotations {
		p.Progress.Tell(backend.Step{Warning: "the app is too large to be kept with its job: only the history of this machine can describe all of it"})
		return nil
	}
	metav1.SetMetaDataAnnotation(meta, label.App, text)
	return nil
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

// DecodeRecord reads the value of the annotation label.App.
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
	return r, nil
}
