package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
)

// checkEnvironments checks that the Secrets and ConfigMaps exist whose entries become variables:
// pods would wait for them without an end. It is skipped for users who may not read them, and
// never reads their contents.
func (s *submission) checkEnvironments(ctx context.Context) error {
	checked := map[string]bool{}
	for _, p := range s.request.PodSets() {
		for i := range p.Spec.Containers {
			for _, e := range p.Spec.Containers[i].EnvFrom {
				var err error
				switch {
				case e.SecretRef != nil && (e.SecretRef.Optional == nil || !*e.SecretRef.Optional):
					err = s.checkSource(ctx, kube.Secrets, "secret", e.SecretRef.Name, checked)
				case e.ConfigMapRef != nil && (e.ConfigMapRef.Optional == nil || !*e.ConfigMapRef.Optional):
					err = s.checkSource(ctx, kube.ConfigMaps, "configmap", e.ConfigMapRef.Name, checked)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkSource checks one source of variables, once.
func (s *submission) checkSource(ctx context.Context, of kube.Resource, kind, name string, checked map[string]bool) error {
	key := kind + ":" + name
	if checked[key] {
		return nil
	}
	checked[key] = true
	err := s.GetMetadata(ctx, of, s.namespace, name)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("namespace %s has no %s %s, which env_from names: create it (kubectl -n %s create %s …) or choose another by -cfg env_from=%s:NAME", s.namespace, kind, name, s.namespace, kind, kind)
	case errors.Is(err, kube.ErrForbidden):
		return nil
	}
	return err
}
