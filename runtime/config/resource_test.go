package config

import (
	"reflect"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

func TestResources(t *testing.T) {
	t.Parallel()
	c := &Config{}
	for path, text := range map[string]string{"/home/.torchxconfig": `
[resource:gpu.mine]
cpu = 7.5
memMB = 4096
gpu = 2
gpu_resource = amd.com/gpu
capabilities = node.kubernetes.io/instance-type=g5.xlarge,zone=a
devices = vpc.amazonaws.com/efa=4
tags = team=x
[local]
fail_fast = false
`} {
		if err := c.addText(path, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.addText("/proj/.torchxconfig", "[resource:gpu.mine]\ncpu = 1\nmemMB = 1\n[resource:small]\ncpu = 1\nmemMB = 2\n[DEFAULT]\nx = 1\n"); err != nil {
		t.Fatal(err)
	}
	got, err := c.Resources()
	if err != nil {
		t.Fatal(err)
	}
	mine := spec.NullResource()
	mine.CPU, mine.GPU, mine.MemMB = 7.5, 2, 4096
	mine.Capabilities = map[string]any{"node.kubernetes.io/instance-type": "g5.xlarge", "zone": "a", "gpu_resource": "amd.com/gpu"}
	mine.Tags = map[string]any{"team": "x"}
	mine.Devices.Set("vpc.amazonaws.com/efa", 4)
	small := spec.NullResource()
	small.CPU, small.GPU, small.MemMB = 1, 0, 2
	want := []Resource{{"gpu.mine", mine, "/home/.torchxconfig:3"}, {"small", small, "/proj/.torchxconfig:5"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestResourceErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cpu = 1\n":                               "/f:2: [resource:x]: memMB is missing",
		"memMB = 1\n":                             "/f:2: [resource:x]: cpu is missing",
		"":                                        "cpu is missing",
		"cpu = 0\nmemMB = 1\n":                    "/f:2: [resource:x]: cpu must be a number above 0",
		"cpu = nan\nmemMB = 1\n":                  "cpu must be a number above 0",
		"cpu = 1\nmemMB = 1.5\n":                  "/f:3: [resource:x]: memMB must be a whole number",
		"cpu = 1\nmemMB = 16GB\n":                 "memMB must be a whole number of megabytes, such as 16384, not \"16GB\"",
		"cpu = 1\nmemMB = 1\ngpu = -1\n":          "/f:4: [resource:x]: gpu must be a whole number from 0",
		"cpu = 1\nmemMB = 1\ngpu_resource = amd\n": "/f:4: [resource:x]: gpu_resource must be the name of the GPUs on a cluster, such as amd.com/gpu, not \"amd\"",
		"cpu = 1\nmem = 1\n":                      "unknown key \"mem\", want one of cpu, memMB, gpu, gpu_resource, capabilities, devices, tags. Did you mean memMB?",
		"cpu = 1\nmemMB = 1\ndevices = a=b\n":     "devices: a must be a whole number from 0, not \"b\"",
		"cpu = 1\nmemMB = 1\ncapabilities = a\n":  "capabilities: ",
		"cpu = 1\nmemMB = 99999999999999999999\n": "memMB must be a whole number",
	} {
		c := &Config{}
		if err := c.addText("/f", "[resource:x]\n"+text); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Resources(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"", "NULL", "a b", "a,b"} {
		c := &Config{}
		if err := c.addText("/f", "[resource:"+name+"]\ncpu = 1\nmemMB = 1\n"); err != nil {
			continue // invalid section header
		}
		if _, err := c.Resources(); err == nil {
			t.Errorf("name %q: got nil, want an error", name)
		}
	}
}
