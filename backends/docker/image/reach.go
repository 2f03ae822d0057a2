package image

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// lookupTime bounds how long the name of a registry is looked up beside a pull.
// Engines try for far longer, mostly without telling anybody.
const lookupTime = 4 * time.Second

var errUnreachable = errors.New("offline")

// watchReach ends a pull that will come to nothing: the registry's name is not
// known here and nothing has come from it. It looks only where this machine's
// names are the engine's: not for an engine elsewhere, behind a proxy or with mirrors.
func watchReach(ctx context.Context, e Engine, host string, alive <-chan struct{}, end context.CancelCauseFunc) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if net.ParseIP(name) != nil || name == "localhost" || !sameNetwork(ctx, e) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	_, err = net.DefaultResolver.LookupHost(ctx, name)
	if err == nil {
		return
	}
	select {
	case <-alive:
	default:
		end(fmt.Errorf("%w: %s has no address here", errUnreachable, name))
	}
}

// sameNetwork reports whether the engine reaches registries as this machine does.
func sameNetwork(ctx context.Context, e Engine) bool {
	if !strings.HasPrefix(e.DaemonHost(), "unix://") {
		return false
	}
	info, err := e.Info(ctx)
	if err != nil || info.HTTPProxy != "" || info.HTTPSProxy != "" {
		return false
	}
	return info.RegistryConfig == nil || len(info.RegistryConfig.Mirrors) == 0
}

// unreachable recognises what engines say without a network. They have only
// words for it: the failure comes as text.
func unreachable(err error) bool {
	for _, words := range []string{
		"no such host", "name resolution", "network is unreachable", "no route to host",
		"i/o timeout", "connection refused", "Client.Timeout exceeded", "server misbehaving",
	} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}
