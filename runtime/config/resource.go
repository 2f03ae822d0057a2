package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// resourcePrefix is the prefix of sections that define a named resource.
const resourcePrefix = "resource:"

// ResourceKeys are the keys of [resource:NAME]; the first two are required.
var ResourceKeys = []string{"cpu", "memMB", "gpu", "gpu_resource", "capabilities", "devices", "tags"}

// gpuResource is both a key of [resource:NAME] and the capability that it sets.
const gpuResource = spec.CapabilityGPU

// Resource is a named resource of a project.
type Resource struct {
	Name     string
	Resource spec.Resource
	Origin   string // FILE:LINE of its first key
}

// Resources returns the resources defined in sections [resource:NAME], in the order of the files.
// If a name is defined twice, the first file's definition is used as a whole. Errors are one
// line, FILE:LINE: problem.
func (c *Config) Resources() ([]Resource, error) {
	var all []Resource
	seen := map[string]bool{}
	for _, f := range c.files {
		for _, s := range f.sections {
			name, ok := strings.CutPrefix(s.name, resourcePrefix)
			if !ok || seen[name] {
				continue
			}
			seen[name] = true
			r, err := newResource(f.path, s.name, name, s.values)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// ProjectResources returns the named resources available in the folder of configuration c: its
// own, then those of the project's root, which apply to all folders of the project.
func (c *Config) ProjectResources(
	root string, lookupEnv func(string) (string, bool),
) ([]Resource, error) {
	all, err := c.Resources()
	if err != nil {
		return nil, err
	}
	more, err := ResourcesIn(root, lookupEnv)
	for _, r := range more {
		if !slices.ContainsFunc(all, func(x Resource) bool { return x.Name == r.Name }) {
			all = append(all, r)
		}
	}
	return all, err
}

// ResourcesIn returns the named resources available in a folder; lookupEnv determines which
// other files apply.
func ResourcesIn(dir string, lookupEnv func(string) (string, bool)) ([]Resource, error) {
	c, err := Load(Options{LookupEnv: lookupEnv, Cwd: dir})
	if err != nil {
		return nil, err
	}
	return c.Resources()
}

func newResource(file, section, name string, values []Value) (Resource, error) {
	r := Resource{Name: name, Resource: spec.NullResource(), Origin: file}
	r.Resource.GPU = 0
	if len(values) > 0 {
		r.Origin = values[0].Origin()
	}
	if name == "" || name == "NULL" || name == "MISSING" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == ',' || c == 0x7f }) {
		return r, fmt.Errorf("%s: [%s]: invalid name of a resource", r.Origin, section)
	}
	var given []string
	for _, v := range values {
		if err := setResource(&r.Resource, v); err != nil {
			return r, fmt.Errorf("%s: [%s]: %w", v.Origin(), section, err)
		}
		given = append(given, v.Key)
	}
	if name := valueOf(values, gpuResource); name != "" {
		r.Resource.Capabilities[gpuResource] = name
	}
	for _, key := range ResourceKeys[:2] {
		if !slices.Contains(given, key) {
			return r, fmt.Errorf("%s: [%s]: %s is missing: set how much a replica gets",
				r.Origin, section, key)
		}
	}
	return r, nil
}

// valueOf returns the last value of a key, "" if there is none.
func valueOf(values []Value, key string) (text string) {
	for _, v := range values {
		if v.Key == key {
			text = v.Text
		}
	}
	return text
}

func setResource(r *spec.Resource, v Value) (err error) {
	switch v.Key {
	case "cpu":
		r.CPU, err = strconv.ParseFloat(v.Text, 64)
		if err != nil || !(r.CPU > 0) || math.IsInf(r.CPU, 0) {
			return fmt.Errorf("cpu must be a number above 0, such as 8 or 0.5, not %.50q", v.Text)
		}
	case "memMB":
		r.MemMB, err = strconv.Atoi(v.Text)
		if err != nil || r.MemMB <= 0 || r.MemMB > math.MaxInt32 {
			return fmt.Errorf("memMB must be a whole number of megabytes, such as 16384, not %.50q", v.Text)
		}
	case "gpu":
		r.GPU, err = strconv.Atoi(v.Text)
		if err != nil || r.GPU < 0 || r.GPU > math.MaxInt32 {
			return fmt.Errorf("gpu must be a whole number from 0, not %.50q", v.Text)
		}
	case gpuResource:
		if domain, name, ok := strings.Cut(v.Text, "/"); !ok || domain == "" || name == "" {
			return fmt.Errorf("%s must be the name of the GPUs on a cluster, such as amd.com/gpu, not %.50q", v.Key, v.Text)
		}
	case "capabilities", "tags":
		pairs, err := ParsePairs(v.Text)
		if err != nil {
			return fmt.Errorf("%s: %w", v.Key, err)
		}
		into := map[string]any{}
		for _, p := range pairs {
			into[p.Key] = p.Value
		}
		if v.Key == "tags" {
			r.Tags = into
		} else {
			r.Capabilities = into
		}
	case "devices":
		return setDevices(r, v.Text)
	default:
		return fmt.Errorf("unknown key %.50q, want one of %s.%s", v.Key,
			strings.Join(ResourceKeys, ", "), humanize.Hint(v.Key, ResourceKeys))
	}
	return nil
}

func setDevices(r *spec.Resource, text string) error {
	pairs, err := ParsePairs(text)
	if err != nil {
		return fmt.Errorf("devices: %w", err)
	}
	for _, p := range pairs {
		n, err := strconv.Atoi(p.Value)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("devices: %.50s must be a whole number from 0, not %.50q", p.Key, p.Value)
		}
		r.Devices.Set(p.Key, n)
	}
	return nil
}
