package manifest

import (
	"reflect"
	"testing"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// The record of an app on the cluster has its labels and where it came from.
func TestRecordKeepsOrigin(t *testing.T) {
	t.Parallel()
	r := &Request{Objects: []Object{&Typed[struct{}]{Object: kube.Object{}}}}
	p := &backend.Plan{
		ID: "a", App: &spec.App{Name: "a", Roles: []spec.Role{}},
	}
	p.Component = "dist.ddp"
	p.Record = []byte(`{"component":"dist.ddp","cwd":"/home/me","parent_run_id":"exp","rerun_of":"local://torchx/b","tags":{"team":"vision"},"note":"first","origin":"x"}`)
	if err := r.AddRecord(p); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRecord(r.Objects[0].Meta().Annotations[kube.AnnotationApp])
	if err != nil {
		t.Fatal(err)
	}
	want := Origin{ParentRunID: "exp", RerunOf: "local://torchx/b", Labels: history.Labels{Tags: map[string]string{"team": "vision"}, Note: "first"}}
	if !reflect.DeepEqual(got.Origin, want) || got.Component != "dist.ddp" {
		t.Errorf("got %+v of %s, want %+v of dist.ddp", got.Origin, got.Component, want)
	}
}
