package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/machine"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// allocationFile is written when an app that needs admission may start. It holds what the
// app uses for as long as it lives.
const allocationFile = "claim.json"

// DeviceRequest is the part of a manifest that requests devices of this machine for
// exclusive use.
type DeviceRequest struct {
	Variable string `json:"variable"` // environment variable with a replica's devices, "2,3"
	// Visible limits the devices, in the form of machine.Visible; nil: all.
	Visible  *string         `json:"visible"`
	Replicas []ReplicaDevice `json:"replicas"`
}

// ReplicaDevice is the number of devices that a replica gets.
type ReplicaDevice struct {
	Role    string `json:"role"`
	Replica int    `json:"replica"`
	Count   int    `json:"count"`
}

// count returns how many devices are requested; a nil request needs none.
func (r *DeviceRequest) count() (n int) {
	if r == nil {
		return 0
	}
	for _, w := range r.Replicas {
		n += w.Count
	}
	return n
}

// allocation is the content of allocationFile.
type allocation struct {
	Time    time.Time          `json:"time"`
	Devices []deviceAllocation `json:"devices,omitempty"`
}

type deviceAllocation struct {
	Role    string   `json:"role"`
	Replica int      `json:"replica"`
	Devices []string `json:"devices"`
}

// distribute assigns devices in the order of the request; there must be enough.
func (r *DeviceRequest) distribute(devices []string) []deviceAllocation {
	if r == nil || len(devices) == 0 {
		return nil
	}
	var all []deviceAllocation
	for _, w := range r.Replicas {
		all = append(all, deviceAllocation{w.Role, w.Replica, devices[:w.Count]})
		devices = devices[w.Count:]
	}
	return all
}

// allocation returns what the app was given, nil if nothing.
func (b Bundle) allocation() (*allocation, error) {
	allocated := &allocation{}
	err := readJSON(b.path(allocationFile), allocated)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return allocated, err
}

// leases returns the allocation as the history stores it.
func (allocated *allocation) leases(app history.AppKey) []history.Lease {
	var all []history.Lease
	for _, d := range allocated.Devices {
		for _, device := range d.Devices {
			all = append(all, history.Lease{App: app, Device: device, Role: d.Role, Replica: d.Replica, Since: allocated.Time})
		}
	}
	return all
}

// assignDevices gives replicas their devices.
func assignDevices(p *policy.Policy, allocated *allocation) {
	if allocated == nil {
		return
	}
	for _, d := range allocated.Devices {
		if r := p.ByKey[spec.Replica{Role: d.Role, ID: d.Replica}]; r != nil {
			r.Devices = d.Devices
		}
	}
}

// deviceEnv returns the variable that names a replica's devices.
func (a *agent) deviceEnv(r *policy.Replica) []string {
	if len(r.Devices) == 0 {
		return nil
	}
	return []string{a.manifest.Devices.Variable + "=" + strings.Join(r.Devices, ",")}
}

// devicePool is the part of a machine's devices that an app may use.
type devicePool struct {
	total   int           // devices of the machine
	allowed []machine.GPU // devices the app may use
}

// checkLimit returns an error if the app can never get its devices; nil if waiting, or
// starting without devices, makes sense.
func (p *devicePool) checkLimit(r *DeviceRequest) error {
	want := r.count()
	if want <= len(p.allowed) || want > p.total {
		return nil
	}
	return fmt.Errorf("the app asks for %s, but %s=%s allows %d of %d",
		gpuText(want), r.Variable, *r.Visible, len(p.allowed), p.total)
}

// free returns the allowed devices that no app holds, lowest first.
func (p *devicePool) free(holders map[string]string) []string {
	var free []string
	for _, g := range p.allowed {
		if holders[g.ID] == "" {
			free = append(free, g.ID)
		}
	}
	return free
}

// maxHolders is how many apps a message names.
const maxHolders = 3

// busy returns an error that names the holders of missing devices. The map holders gives
// the handle of each device's app.
func (p *devicePool) busy(want int, holders map[string]string) *busyError {
	var order []string
	devices := map[string][]string{}
	for _, g := range p.allowed {
		if h := holders[g.ID]; h != "" {
			if devices[h] == nil {
				order = append(order, h)
			}
			devices[h] = append(devices[h], g.ID)
		}
	}
	var who []string
	for i, h := range order {
		if i == maxHolders {
			who = append(who, fmt.Sprintf("%d more apps hold others", len(order)-i))
			break
		}
		who = append(who, fmt.Sprintf("%s holds %s", h, strings.Join(devices[h], ",")))
	}
	return &busyError{want, len(p.free(holders)), len(p.allowed), strings.Join(who, "; ")}
}

// busyError means that other apps hold the devices.
type busyError struct {
	want, free, allowed int
	holders             string
}

func (e *busyError) Error() string {
	return fmt.Sprintf("the app asks for %s, %d of %d free (%s): wait until they end, or run with --queue",
		gpuText(e.want), e.free, e.allowed, e.holders)
}

func gpuText(n int) string { return countText("GPU")(float64(n)) }
