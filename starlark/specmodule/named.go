package specmodule

import (
	"strings"

	"torchx/runtime/spec"
)

type namedRow struct {
	name          string
	cpu, gpu, mem int // mem in MB, for AWS in GiB
	efa, neuron   int // devices
}

const (
	awsPrefix = "aws_"
	// awsMBPerGiB leaves 4 % of an instance's memory to the system: int(1024 * 0.96).
	awsMBPerGiB = 983

	instanceTypeCapability = "node.kubernetes.io/instance-type"
	efaDevice              = "vpc.amazonaws.com/efa"
	neuronDevice           = "aws.amazon.com/neurondevice"
)

func (n *namedRow) resource() spec.Resource {
	r := spec.NullResource()
	r.CPU, r.GPU, r.MemMB = float64(n.cpu), n.gpu, n.mem
	if instance, ok := strings.CutPrefix(n.name, awsPrefix); ok {
		r.MemMB *= awsMBPerGiB
		r.Capabilities[instanceTypeCapability] = instance
	}
	if n.efa > 0 {
		r.Devices.Set(efaDevice, n.efa)
	}
	if n.neuron > 0 {
		r.Devices.Set(neuronDevice, n.neuron)
	}
	return r
}

// namedTable has TorchX's names and sizes. AWS documents the sizes of its instance types.
var namedTable = [...]namedRow{
	{"gpu.small", 8, 1, 32768, 0, 0},
	{"gpu.medium", 16, 2, 65536, 0, 0},
	{"gpu.large", 32, 4, 131072, 0, 0},
	{"gpu.xlarge", 64, 8, 262144, 0, 0},
	{"cpu.nano", 1, 0, 512, 0, 0},
	{"cpu.micro", 1, 0, 1024, 0, 0},
	{"cpu.small", 1, 0, 2048, 0, 0},
	{"cpu.medium", 2, 0, 4096, 0, 0},
	{"cpu.large", 2, 0, 8192, 0, 0},
	{"cpu.xlarge", 8, 0, 32768, 0, 0},
	{"aws_t3.medium", 2, 0, 4, 0, 0},
	{"aws_m5.large", 2, 0, 8, 0, 0},
	{"aws_m5.xlarge", 4, 0, 16, 0, 0},
	{"aws_m5.2xlarge", 8, 0, 32, 0, 0},
	{"aws_m5.4xlarge", 16, 0, 64, 0, 0},
	{"aws_m5.8xlarge", 32, 0, 128, 0, 0},
	{"aws_m5.12xlarge", 48, 0, 192, 0, 0},
	{"aws_m5.16xlarge", 64, 0, 256, 0, 0},
	{"aws_m5.24xlarge", 96, 0, 384, 0, 0},
	{"aws_m5.metal", 96, 0, 384, 0, 0},
	{"aws_m5d.large", 2, 0, 8, 0, 0},
	{"aws_m5d.xlarge", 4, 0, 16, 0, 0},
	{"aws_m5d.2xlarge", 8, 0, 32, 0, 0},
	{"aws_m5d.4xlarge", 16, 0, 64, 0, 0},
	{"aws_m5d.8xlarge", 32, 0, 128, 0, 0},
	{"aws_m5d.12xlarge", 48, 0, 192, 0, 0},
	{"aws_m5d.16xlarge", 64, 0, 256, 0, 0},
	{"aws_m5d.24xlarge", 96, 0, 384, 0, 0},
	{"aws_m5d.metal", 96, 0, 384, 0, 0},
	{"aws_c5.18xlarge", 72, 0, 142, 0, 0},
	{"aws_p3.2xlarge", 8, 1, 61, 0, 0},
	{"aws_p3.8xlarge", 32, 4, 244, 0, 0},
	{"aws_p3.16xlarge", 64, 8, 488, 0, 0},
	{"aws_p3dn.24xlarge", 96, 8, 768, 1, 0},
	{"aws_p4d.24xlarge", 96, 8, 1152, 4, 0},
	{"aws_p4de.24xlarge", 96, 8, 1152, 4, 0},
	{"aws_p5.48xlarge", 192, 8, 2048, 32, 0},
	{"aws_p5e.48xlarge", 192, 8, 2048, 32, 0},
	{"aws_p5en.48xlarge", 192, 8, 2048, 16, 0},
	{"aws_p6-b200.48xlarge", 192, 8, 2048, 8, 0},
	{"aws_p6-b300.48xlarge", 192, 8, 4096, 16, 0},
	{"aws_p6e-gb200.36xlarge", 144, 4, 960, 16, 0},
	{"aws_g4dn.xlarge", 4, 1, 16, 0, 0},
	{"aws_g4dn.2xlarge", 8, 1, 32, 0, 0},
	{"aws_g4dn.4xlarge", 16, 1, 64, 0, 0},
	{"aws_g4dn.8xlarge", 32, 1, 128, 1, 0},
	{"aws_g4dn.16xlarge", 64, 1, 256, 1, 0},
	{"aws_g4dn.12xlarge", 48, 4, 192, 1, 0},
	{"aws_g4dn.metal", 96, 8, 384, 1, 0},
	{"aws_g5.xlarge", 4, 1, 16, 0, 0},
	{"aws_g5.2xlarge", 8, 1, 32, 0, 0},
	{"aws_g5.4xlarge", 16, 1, 64, 0, 0},
	{"aws_g5.8xlarge", 32, 1, 128, 1, 0},
	{"aws_g5.16xlarge", 64, 1, 256, 1, 0},
	{"aws_g5.12xlarge", 48, 4, 192, 1, 0},
	{"aws_g5.24xlarge", 96, 4, 384, 1, 0},
	{"aws_g5.48xlarge", 192, 8, 768, 1, 0},
	{"aws_g6e.xlarge", 4, 1, 32, 0, 0},
	{"aws_g6e.2xlarge", 8, 1, 64, 0, 0},
	{"aws_g6e.4xlarge", 16, 1, 128, 0, 0},
	{"aws_g6e.8xlarge", 32, 1, 256, 0, 0},
	{"aws_g6e.16xlarge", 64, 1, 512, 0, 0},
	{"aws_g6e.12xlarge", 48, 4, 384, 0, 0},
	{"aws_g6e.24xlarge", 96, 4, 768, 2, 0},
	{"aws_g6e.48xlarge", 192, 8, 1536, 4, 0},
	{"aws_trn1.2xlarge", 8, 0, 32, 0, 1},
	{"aws_trn1.32xlarge", 128, 0, 512, 8, 16},
	{"aws_inf2.xlarge", 4, 0, 16, 0, 1},
	{"aws_inf2.8xlarge", 32, 0, 128, 0, 1},
	{"aws_inf2.24xlarge", 96, 0, 384, 0, 6},
	{"aws_inf2.48xlarge", 192, 0, 768, 0, 12},
	{"NULL", -1, -1, -1, 0, 0},
	{"MISSING", -1, -1, -1, 0, 0},
}
