package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"torchx/runtime/spec"
)

// Names of resources and labels of nodes, as in TorchX.
const (
	resourceGPU            = "nvidia.com/gpu"
	resourceEFA            = "vpc.amazonaws.com/efa"
	capabilityInstanceType = "node.kubernetes.io/instance-type"
)

// resources are a replica's limits, and its requests without what nodes reserve.
// What the resource does not say, or says with zero, has neither.
func (o Options) resources(r spec.Resource) corev1.ResourceRequirements {
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	if milli := int64(r.CPU * 1000); r.CPU > 0 {
		limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(milli, resource.DecimalSI)
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(max(0, milli-int64(o.reservedCPU)), resource.DecimalSI)
	}
	if r.MemMB > 0 {
		limits[corev1.ResourceMemory] = megabytes(r.MemMB)
		requests[corev1.ResourceMemory] = megabytes(max(0, r.MemMB-o.reservedMem))
	}
	if r.GPU > 0 {
		limits[resourceGPU], requests[resourceGPU] = count(r.GPU), count(r.GPU)
	}
	devices := r.Devices.Clone()
	if o.efa != nil {
		devices.Set(resourceEFA, *o.efa)
	}
	for _, d := range devices {
		if d.Key == resourceEFA && o.efa != nil && *o.efa == 0 {
			continue
		}
		limits[corev1.ResourceName(d.Key)] = count(d.Value)
	}
	return corev1.ResourceRequirements{Limits: limits, Requests: requests}
}

// megabytes are decimal ones, as TorchX sends them.
func megabytes(n int) resource.Quantity {
	return *resource.NewScaledQuantity(int64(n), resource.Mega)
}

func count(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

// selector are the labels that a node must have.
func (o Options) selector(r spec.Resource) map[string]string {
	selector := map[string]string{}
	if v, ok := r.Capabilities[capabilityInstanceType]; ok {
		selector[capabilityInstanceType] = fmt.Sprint(v)
	}
	for k, v := range o.nodeSelector {
		selector[k] = v
	}
	return selector
}

// needs is what all replicas together take of a quota, by the names that quotas use
// (k8s.io/kubernetes/pkg/quota/v1/evaluator/core).
func (r *Request) Demand() corev1.ResourceList {
	sum := corev1.ResourceList{}
	add := func(name corev1.ResourceName, q resource.Quantity, times int) {
		total := sum[name]
		q = q.DeepCopy()
		q.Mul(int64(times))
		total.Add(q)
		sum[name] = total
	}
	for _, o := range r.Objects {
		for _, t := range Templates(o) {
			one := resource.MustParse("1")
			add(corev1.ResourcePods, one, t.Replicas)
			add("count/pods", one, t.Replicas)
			for i := range t.Spec.Containers {
				c := &t.Spec.Containers[i].Resources
				for name, q := range c.Limits {
					add("limits."+name, q, t.Replicas)
					if _, ok := c.Requests[name]; !ok { // a limit is a request, too
						add("requests."+name, q, t.Replicas)
						add(name, q, t.Replicas)
					}
				}
				for name, q := range c.Requests {
					add("requests."+name, q, t.Replicas)
					add(name, q, t.Replicas)
				}
			}
		}
	}
	return sum
}
