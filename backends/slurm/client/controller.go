package client

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"torchx/runtime/backend"
)

const (
	// listenAfter is how long a command may run before torchx looks whether a controller listens:
	// Slurm's commands try a dead one again for 10 to 30 seconds. One that is busy listens.
	listenAfter = 1500 * time.Millisecond
	// dialTime bounds the attempt to reach a controller.
	dialTime = 2 * time.Second
	// settleTime is how long a command may take to notice that its controller died.
	settleTime = 300 * time.Millisecond
	// defaultPort is that of slurmctld.
	defaultPort = 6817
	// maxConfig bounds the size of slurm.conf.
	maxConfig = 16 << 20
)

// contacting lists the commands that need a controller.
var contacting = []string{"sbatch", "squeue", "scancel", "scontrol", "sinfo"}

// configs lists where slurm.conf is, unless SLURM_CONF says it.
var configs = []string{"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf"}

// watchController calls stop if a command still runs after listenAfter and no controller listens.
func watchController(
	ctx context.Context, name string, environ []string, stop func(error),
) (release func()) {
	if !slices.Contains(contacting, name) {
		return func() {}
	}
	timer := time.AfterFunc(listenAfter, func() {
		err := checkListens(ctx, addresses(environ))
		if err == nil {
			return
		}
		select {
		case <-time.After(settleTime):
			stop(err)
		case <-ctx.Done():
		}
	})
	return func() { timer.Stop() }
}

// checkListens returns why no controller listens, nil if one does or if that is unknown. Errors:
// ErrUnavailable. If all refuse connections, IsUnsent is true: a command that sent its request
// ends when the controller dies, and the caller's one still runs.
func checkListens(ctx context.Context, all []string) error {
	refused := true
	for _, address := range all {
		d := net.Dialer{Timeout: dialTime}
		connection, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = connection.Close()
			return nil
		}
		refused = refused && errors.Is(err, syscall.ECONNREFUSED)
	}
	if len(all) == 0 || ctx.Err() != nil {
		return ctx.Err() // the command has ended already
	}
	err := backend.Errorf(backend.ErrUnavailable, "Slurm's controller does not answer: nothing listens at %s (%s)", strings.Join(all, ", "), fixPing)
	if refused {
		return unsentError{err}
	}
	return err
}

// addresses returns the addresses of the controllers that slurm.conf names; none if it cannot be
// read.
func addresses(environ []string) (all []string) {
	paths := configs
	if path := variable(environ, "SLURM_CONF"); path != "" {
		paths = []string{path}
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.Size() > maxConfig {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			return parseConfig(string(text))
		}
	}
	return nil
}

// parseConfig returns the addresses in a slurm.conf: SlurmctldAddr, or else each SlurmctldHost=NAME
// or NAME(ADDRESS), the primary one first, and the first SlurmctldPort of a range.
func parseConfig(text string) (all []string) {
	var hosts []string
	shared := ""
	port := defaultPort
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "slurmctldhost":
			name, address, ok := strings.Cut(strings.TrimSuffix(value, ")"), "(")
			if ok {
				name = address
			}
			hosts = append(hosts, name)
		case "slurmctldaddr":
			shared = value
		case "slurmctldport":
			first, _, _ := strings.Cut(value, "-")
			if n, err := strconv.Atoi(first); err == nil {
				port = n
			}
		}
	}
	if shared != "" {
		hosts = []string{shared}
	}
	for _, h := range hosts {
		all = append(all, net.JoinHostPort(h, strconv.Itoa(port)))
	}
	return all
}
