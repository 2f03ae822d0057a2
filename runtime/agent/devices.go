package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// claimFile is written when an app that has to ask (for devices, or in a queue)
// may start: it says what the app has for as long as it lives.
const claimFile = "claim.json"

// DeviceRequest is the part of a manifest that asks for devices of this machine
// which no other app has.
type DeviceRequest struct {
	Variable string `json:"variable"` // tells a replica its devices, "2,3"
	// Visible limits the devices, in the form of machine.Visible; nil: all.
	Visible  *string         `json:"visible"`
	Replicas []ReplicaDevice `json:"replicas"`
}

// ReplicaDevice is how many devices a replica gets.
type ReplicaDevice struct {
	Role    string `json:"role"`
	Replica int    `json:"replica"`
	Count   int    `json:"count"`
}

// wanted is how many devices are asked for; a nil request asks for none.
func (r *DeviceRequest) wanted() (n int) {
	if r == nil {
		return 0
	}
	for _, w := range r.Replicas {
		n += w.Count
	}
	return n
}

// claim is the content of claimFile.
type claim struct {
	Time    time.Time     `json:"time"`
	Devices []deviceClaim `json:"devices,omitempty"`
}

type deviceClaim struct {
	Role    string   `json:"role"`
	Replica int      `json:"replica"`
	Devices []string `json:"devices"`
}

// deal hands devices out in the order of the request; there are enough.
func (r *DeviceRequest) deal(devices []string) []deviceClaim {
	if r == nil || len(devices) == 0 {
		return nil
	}
	var all []deviceClaim
	for _, w := range r.Replicas {
		all = append(all, deviceClaim{w.Role, w.Replica, devices[:w.Count]})
		devices = devices[w.Count:]
	}
	return all
}

// claim returns what an app has, nil if nothing was given to it.
func (b Bundle) claim() (*claim, error) {
	c := &claim{}
	err := readJSON(b.path(claimFile), c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return c, err
}

// leases is a claim as the history keeps it.
func (c *claim) leases(app history.AppKey) []history.Lease {
	var all []history.Lease
	for _, d := range c.Devices {
		for _, device := range d.Devices {
			all = append(all, history.Lease{App: app, Device: device, Role: d.Role, Replica: d.Replica, Since: c.Time})
		}
	}
	return all
}

// assign tells the replicas of a gang their devices.
func (g *gang) assign(c *claim) {
	if c == nil {
		return
	}
	for _, d := range c.Devices {
		if m := g.byKey[spec.Replica{Role: d.Role, ID: d.Replica}]; m != nil {
			m.devices = d.Devices
		}
	}
}

// deviceEnv is what a replica is told of its devices.
func (a *agent) deviceEnv(m *member) []string {
	if len(m.devices) == 0 {
		return nil
	}
	return []string{a.manifest.Devices.Variable + "=" + strings.Join(m.devices, ",")}
}

// devicePool is what of a machine's devices an app may have.
type devicePool struct {
	total   int           // devices of the machine
	allowed []machine.GPU // those the app may be given
}

// tooFew says why an app can never get its devices; nil where waiting, or going on
// without, makes sense.
func (p *devicePool) tooFew(r *DeviceRequest) error {
	want := r.wanted()
	if want <= len(p.allowed) || want > p.total {
		return nil
	}
	return fmt.Errorf("the app asks for %s, but %s=%s of its submitter allows %d of the %d here",
		gpus(want), r.Variable, *r.Visible, len(p.allowed), p.total)
}

// free returns the allowed devices that nobody holds, lowest first.
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

// busy says in one line who has the devices that are missing. holders gives the
// handle of the app that has a device.
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

// busyError says that other apps have the devices.
type busyError struct {
	want, free, allowed int
	who                 string
}

func (e *busyError) Error() string {
	return fmt.Sprintf("the app asks for %s, %d of %d free (%s): wait for their end, or run it with --queue",
		gpus(e.want), e.free, e.allowed, e.who)
}

func gpus(n int) string { return unit("GPU")(float64(n)) }
