package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/runtime/backend"
)

// parseEnvSource reads secret:NAME or configmap:NAME.
func parseEnvSource(text string) (s corev1.EnvFromSource, err error) {
	kind, name, ok := strings.Cut(text, ":")
	if !ok {
		return s, backend.Errorf(backend.ErrInvalidOption, "env_from=%s: write secret:NAME or configmap:NAME", text)
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return s, backend.Errorf(backend.ErrInvalidOption, "env_from=%s: %q is not a name: %s", text, name, problems[0])
	}
	ref := corev1.LocalObjectReference{Name: name}
	switch kind {
	case "secret":
		s.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: ref}
	case "configmap":
		s.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: ref}
	default:
		return s, backend.Errorf(backend.ErrInvalidOption, "env_from=%s: unknown kind %q, write secret:NAME or configmap:NAME", text, kind)
	}
	return s, nil
}
