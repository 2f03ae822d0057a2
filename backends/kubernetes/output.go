package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// OutputOf returns where the outputs of an app are: as its pods mount them, or by the options
// of its submission if the cluster no longer has the app or does not answer. Errors:
// ErrNotFound.
func (b *Backend) OutputOf(ctx context.Context, id string) (*backend.Output, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	var volume manifest.Volume
	var ok bool
	if err == nil {
		volume, ok = manifest.OutputOf(a.pods())
	} else {
		volume, ok = manifest.OutputOption(t.cfg, t.name)
	}
	switch {
	case ok:
		return &backend.Output{Place: volume.String(), Kept: true, Read: reader(t.namespace, volume)}, nil
	case err != nil:
		return nil, err
	}
	return nil, backend.Errorf(backend.ErrNotFound, "app %s has no output folder: it was submitted without -cfg output=pvc:CLAIM", id)
}

// reader returns the command that lists a folder of a claim: only a pod can read it.
func reader(namespace string, v manifest.Volume) string {
	type object = map[string]any
	overrides, _ := json.Marshal(object{"spec": object{ // plain values cannot fail
		"volumes": []object{{"name": "o", "persistentVolumeClaim": object{"claimName": v.Claim}}},
		"containers": []object{{
			"name": "reader", "image": "busybox", "command": []string{"ls", "-lR", "/o"},
			"volumeMounts": []object{{"name": "o", "mountPath": "/o", "subPath": v.Folder, "readOnly": true}},
		}},
	}})
	quoted := "'" + strings.ReplaceAll(string(overrides), "'", `'\''`) + "'"
	return fmt.Sprintf("kubectl -n %s run reader --rm -i --restart=Never --image=busybox --overrides=%s", namespace, quoted)
}
