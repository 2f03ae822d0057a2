package manifest

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// checkPod refuses pods that the cluster would refuse, as far as that can be told
// without it.
func checkPod(t *Template) error {
	s := &t.Spec
	if len(s.Containers) == 0 {
		return errors.New("the pod has no containers")
	}
	if s.RestartPolicy == corev1.RestartPolicyAlways {
		return errors.New("restartPolicy Always would run the program for ever: use Never or OnFailure")
	}
	volumes := map[string]bool{}
	for _, v := range s.Volumes {
		if v.Name == "" || volumes[v.Name] {
			return fmt.Errorf("volume %q has no name, or that of another one", v.Name)
		}
		volumes[v.Name] = true
	}
	names := map[string]bool{}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if err := checkContainer(&list[i], volumes, names); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkContainer(c *corev1.Container, volumes, names map[string]bool) error {
	switch {
	case c.Name == "" || names[c.Name]:
		return fmt.Errorf("container %q has no name, or that of another one", c.Name)
	case c.Image == "":
		return fmt.Errorf("container %s has no image", c.Name)
	}
	names[c.Name] = true
	paths := map[string]bool{}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			return fmt.Errorf("container %s mounts volume %q at %s, which the pod does not have", c.Name, m.Name, m.MountPath)
		}
		if m.MountPath == "" || paths[m.MountPath] {
			return fmt.Errorf("container %s mounts two volumes, or one nowhere, at %q", c.Name, m.MountPath)
		}
		paths[m.MountPath] = true
	}
	for _, e := range c.Env {
		if e.Name == "" {
			return fmt.Errorf("container %s has a variable without a name", c.Name)
		}
	}
	return nil
}
