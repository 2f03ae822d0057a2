package manifest

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func gpuRole(name, gpu string) spec.Role {
	return role(name, func(r *spec.Role) {
		r.Resource.GPU = 2
		r.Resource.Capabilities = map[string]any{}
		if gpu != "" {
			r.Resource.Capabilities[spec.CapabilityGPU] = gpu
		}
	})
}

// TestGPUName: the resource's own name is used before that of the option, in every form, without
// a warning.
func TestGPUName(t *testing.T) {
	t.Parallel()
	for _, f := range Forms {
		for _, c := range []struct{ cfg, a, b string }{
			{"", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"},
			{",gpu_resource=amd.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.5gb"},
			{",gpu_resource=gpu.intel.com/i915", "gpu.intel.com/i915", "nvidia.com/mig-1g.5gb"},
		} {
			p, req := plan(t, input(t, "gang="+string(f)+c.cfg, gpuRole("a", ""), gpuRole("b", "nvidia.com/mig-1g.5gb")))
			for i, want := range []string{c.a, c.b} {
				r := pods(req)[i].Spec.Containers[0].Resources
				for kind, list := range map[string]corev1.ResourceList{"limits": r.Limits, "requests": r.Requests} {
					if n := list[corev1.ResourceName(want)]; n.Value() != 2 || len(list) != 1 {
						t.Errorf("%s %s: got %s of role %d %v, want 2 of %s", f, c.cfg, kind, i, list, want)
					}
				}
			}
			if text := strings.Join(p.Warnings, "\n"); strings.Contains(text, "capability") {
				t.Errorf("%s: got warnings %q, want none about capabilities", f, text)
			}
		}
	}
}

// TestBadGPUName: one line names the option or the role.
func TestBadGPUName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gpu", "amd.com/", "/gpu", "amd.com/gpu/2", "AMD com/gpu", "requests.amd.com/gpu", "kubernetes.io/gpu", "node.kubernetes.io/gpu", "amd.com/" + strings.Repeat("g", 64)} {
		_, err := ReadOptions(backend.Config{"gpu_resource": name})
		if !errors.Is(err, backend.ErrInvalidOption) || !strings.Contains(err.Error(), "gpu_resource="+name+": must be DOMAIN/NAME") || strings.Contains(err.Error(), "\n") {
			t.Errorf("option %q: got %v, want ErrInvalidOption in one line", name, err)
		}
		_, err = Planner{}.Plan(t.Context(), input(t, "", gpuRole("a", name)))
		if err == nil || !strings.Contains(err.Error(), "capability gpu_resource="+name+" of role a: must be DOMAIN/NAME") {
			t.Errorf("capability %q: got %v, want an error that names it and the role", name, err)
		}
	}
	twice := gpuRole("a", "amd.com/gpu")
	twice.Resource.Devices.Set("amd.com/gpu", 1)
	if _, err := (Planner{}).Plan(t.Context(), input(t, "", twice)); err == nil || !strings.Contains(err.Error(), "requests amd.com/gpu twice") {
		t.Errorf("gpu and devices: got %v, want an error that says twice", err)
	}
}

// TestEnvFrom: the sources reach the main container in the given order in every form.
func TestEnvFrom(t *testing.T) {
	t.Parallel()
	for _, f := range Forms {
		_, req := plan(t, input(t, "env_from=secret:wandb;configmap:train.env,gang="+string(f), role("a", replicas(2)), role("b", nil)))
		for _, p := range pods(req) {
			from := p.Spec.Containers[0].EnvFrom
			if len(from) != 2 || from[0].SecretRef == nil || from[0].SecretRef.Name != "wandb" || from[1].ConfigMapRef == nil || from[1].ConfigMapRef.Name != "train.env" {
				t.Errorf("%s: got %+v, want secret wandb, then configmap train.env", f, from)
			}
		}
	}
	for text, want := range map[string]string{
		"wandb": "write secret:NAME or configmap:NAME", "vault:x": `unknown kind "vault"`, "secret:": `"" is not a name`, "secret:Bad_Name": `"Bad_Name" is not a name`,
	} {
		_, err := ReadOptions(backend.Config{"env_from": []string{text}})
		if !errors.Is(err, backend.ErrInvalidOption) || !strings.Contains(err.Error(), "env_from="+text+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("env_from=%s: got %v, want %q", text, err, want)
		}
	}
}
