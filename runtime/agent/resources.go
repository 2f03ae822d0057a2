package agent

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// Demand returns the resources that the replicas of an app request together.
func Demand(app *spec.App) machine.Size { return resourcesOf(app) }

// resourcesOf adds up the resources that the replicas of an app request. A role without a
// request counts as zero, and of a role with max_parallel only as many as run together. GPUs
// are assigned to all replicas before they start.
func resourcesOf(app *spec.App) machine.Size {
	var sum machine.Size
	for i := range app.Roles {
		r, n := &app.Roles[i].Resource, app.Roles[i].NumReplicas
		together := n
		if o, err := app.Roles[i].Order(); err == nil && o.MaxParallel > 0 {
			together = min(n, o.MaxParallel)
		}
		sum = sum.Plus(machine.Size{
			CPU: max(r.CPU, 0) * float64(together), MemMB: max(r.MemMB, 0) * together, GPU: max(r.GPU, 0) * n,
		})
	}
	return sum
}

// missingResources lists the resources that are too scarce for a demand, as text:
// "4 CPUs (2 of 8 free)". It is empty if the demand fits.
func missingResources(demand, used, total machine.Size) []string {
	var missing []string
	lack := func(need, used, total float64, amount func(float64) string, of func(free, total float64) string) {
		if need > 0 && used+need > total+1e-9 { // sums of decimal fractions are not exact
			missing = append(missing, fmt.Sprintf("%s (%s free)", amount(need), of(max(0, total-used), total)))
		}
	}
	plain := func(free, total float64) string { return number(free) + " of " + number(total) }
	memory := func(free, total float64) string { return memoryText(free) + " of " + memoryText(total) }
	lack(demand.CPU, used.CPU, total.CPU, countText("CPU"), plain)
	lack(float64(demand.MemMB), float64(used.MemMB), float64(total.MemMB), memoryText, memory)
	lack(float64(demand.GPU), float64(used.GPU), float64(total.GPU), countText("GPU"), plain)
	return missing
}

func countText(name string) func(float64) string {
	return func(n float64) string {
		if n == 1 {
			return "1 " + name
		}
		return number(n) + " " + name + "s"
	}
}

// number formats a number with at most two decimals.
func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }

// memoryText formats an amount of MiB, from 1 GiB on in GiB with one decimal.
func memoryText(mib float64) string {
	if mib < 1024 {
		return number(mib) + " MiB"
	}
	return strconv.FormatFloat(math.Round(mib/1024*10)/10, 'f', -1, 64) + " GiB"
}

// sizeText formats a size, "4 CPUs, 2 GiB, 1 GPU", with only the resources that like has.
func sizeText(s, like machine.Size) string {
	var parts []string
	if like.CPU > 0 {
		parts = append(parts, countText("CPU")(s.CPU))
	}
	if like.MemMB > 0 {
		parts = append(parts, memoryText(float64(s.MemMB)))
	}
	if like.GPU > 0 {
		parts = append(parts, countText("GPU")(float64(s.GPU)))
	}
	return strings.Join(parts, ", ")
}

// checkCapacity returns an error if the app would not fit on this machine even alone.
func checkCapacity(demand, total machine.Size) error {
	excess := demand
	if demand.CPU <= total.CPU {
		excess.CPU = 0
	}
	if demand.MemMB <= total.MemMB {
		excess.MemMB = 0
	}
	if demand.GPU <= total.GPU {
		excess.GPU = 0
	}
	if excess == (machine.Size{}) {
		return nil
	}
	return fmt.Errorf("the app asks for %s, this machine has %s: it would wait forever (request less, or run without --queue)",
		sizeText(excess, excess), sizeText(total, excess))
}
