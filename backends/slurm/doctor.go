package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"torchx/backends/slurm/client"
	"torchx/runtime/backend"
)

// checkTime bounds the checks of a cluster.
const checkTime = 15 * time.Second

// Names of checks.
const (
	commandsCheck   = "commands"
	controllerCheck = "controller"
	versionCheck    = "version"
	partitionCheck  = "partition"
	nodesCheck      = "nodes"
	accountCheck    = "account"
	accountingCheck = "accounting"
	folderCheck     = "folder"
)

// needed lists the commands that apps need; useful those without which less is known.
var (
	needed = []string{"sbatch", "squeue", "scancel", "scontrol", "sinfo"}
	useful = []string{"sacct", "sacctmgr"}
)

// Doctor checks the commands, the cluster, and whether apps can use the partition, the account
// and the folder that the options select.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	cfg, err := b.settings(ctx, "")
	if err != nil {
		return []backend.Check{backend.FailedCheck("options", "see `torchx config explain -b slurm`", "%v", err)}
	}
	commands := b.checkCommands()
	if commands.Level == backend.LevelFailure {
		return []backend.Check{commands}
	}
	d := &doctor{Client: b.slurm}
	d.partition, _ = cfg["partition"].(string)
	d.account, _ = cfg["account"].(string)
	dir, err := b.appsDir(ctx, "")
	if err != nil {
		return []backend.Check{commands, backend.FailedCheck(folderCheck, "", "%v", err)}
	}
	checks := append([]backend.Check{commands}, backend.RunDiagnostics(ctx, checkTime, []backend.Diagnostic{
		{Name: controllerCheck, Run: d.checkController},
		{Name: folderCheck, Run: func(context.Context) backend.Check { return checkFolder(dir) }},
	})...)
	if checks[1].Level == backend.LevelFailure { // the others would fail for the same reason
		return checks
	}
	return append(checks, backend.RunDiagnostics(ctx, checkTime, []backend.Diagnostic{
		{Name: versionCheck, Run: d.checkVersion},
		{Name: partitionCheck, Run: d.checkPartition},
		{Name: nodesCheck, Run: d.checkNodes, Minor: true},
		{Name: accountCheck, Run: d.checkAccount},
		{Name: accountingCheck, Run: d.checkAccounting, Minor: true},
	})...)
}

func (b *Backend) checkCommands() backend.Check {
	var missing []string
	for _, name := range needed {
		if _, err := b.slurm.Path(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return backend.FailedCheck(commandsCheck, "use a login node of the cluster, load its module, or install slurm-client", "not in PATH: %s", strings.Join(missing, ", "))
	}
	for _, name := range useful {
		if _, err := b.slurm.Path(name); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return backend.WarningCheck(commandsCheck, "install them to see jobs that ended long ago",
			"not in PATH: %s", strings.Join(missing, ", "))
	}
	path, _ := b.slurm.Path(needed[0]) // found above
	return backend.PassedCheck(commandsCheck, "%s, and the others that torchx runs", path)
}

// doctor checks one cluster.
type doctor struct {
	*client.Client
	partition, account string
}

func (d *doctor) checkController(ctx context.Context) backend.Check {
	text, err := d.Controller(ctx)
	if err != nil {
		return backend.FailedCheck(controllerCheck, "", "%v", err)
	}
	return backend.PassedCheck(controllerCheck, "%s", text)
}

// oldest is the first version whose output torchx knows.
const oldest = "20.11"

func (d *doctor) checkVersion(ctx context.Context) backend.Check {
	version, err := d.Version(ctx)
	switch {
	case err != nil:
		return backend.FailedCheck(versionCheck, "", "%v", err)
	case version == "" || version[0] < '0' || version[0] > '9':
		return backend.WarningCheck(versionCheck, "use version "+oldest+" or later",
			"Slurm reports an unknown version: %q", version)
	case version < oldest: // YY.MM: in the order of texts
		return backend.WarningCheck(versionCheck, "use version "+oldest+" or later",
			"Slurm is %s: torchx knows the output of %s and later", version, oldest)
	}
	return backend.PassedCheck(versionCheck, "Slurm %s", version)
}

func (d *doctor) checkPartition(ctx context.Context) backend.Check {
	all, err := d.Partitions(ctx)
	if err != nil {
		return backend.FailedCheck(partitionCheck, "", "%v", err)
	}
	p := client.PartitionOf(all, d.partition)
	switch {
	case p == nil && d.partition == "":
		return backend.FailedCheck(partitionCheck, "choose one of `sinfo` by -cfg partition=NAME",
			"the cluster has no default partition")
	case p == nil:
		return backend.FailedCheck(partitionCheck, "choose one of `sinfo` by -cfg partition=NAME",
			"there is no partition %s", d.partition)
	case !p.Up:
		return backend.FailedCheck(partitionCheck,
			"choose another of `sinfo` by -cfg partition=NAME", "partition %s is down", p.Name)
	case p.Usable == 0:
		return backend.WarningCheck(partitionCheck, "see `sinfo -R`, or choose another by -cfg partition=NAME", "none of the %d nodes of partition %s can run jobs now", p.Nodes, p.Name)
	}
	return backend.PassedCheck(partitionCheck, "%s, %d of %d nodes can run jobs, unless -cfg partition=NAME selects another", p.Name, p.Usable, p.Nodes)
}

// maxListed is how many nodes a check names.
const maxListed = 5

func (d *doctor) checkNodes(ctx context.Context) backend.Check {
	reasons, err := d.NodeReasons(ctx)
	switch {
	case err != nil:
		return backend.WarningCheck(nodesCheck, "", "%v", err)
	case len(reasons) == 0:
		return backend.PassedCheck(nodesCheck, "no node is down or drained")
	}
	listed := reasons[:min(len(reasons), maxListed)]
	return backend.WarningCheck(nodesCheck, "apps start on the other nodes; see `sinfo -R`",
		"down or drained: %s", strings.Join(listed, "; "))
}

func (d *doctor) checkAccount(ctx context.Context) backend.Check {
	accounts, err := d.Accounts(ctx, userName())
	switch {
	case errors.Is(err, client.ErrNoAccounting):
		return backend.PassedCheck(accountCheck, "the cluster has no accounts")
	case err != nil:
		return backend.WarningCheck(accountCheck, "see `sacctmgr show associations user=$USER`",
			"your accounts cannot be read: %v", err)
	case len(accounts) == 0:
		return backend.WarningCheck(accountCheck, "ask the administrator for an account",
			"you have no account, which some clusters require")
	}
	for _, a := range accounts {
		if d.account == "" || a == d.account {
			return backend.PassedCheck(accountCheck, "%s", strings.Join(accounts, ", "))
		}
	}
	return backend.FailedCheck(accountCheck, fmt.Sprintf("choose one of them by -cfg account=NAME: %s", strings.Join(accounts, ", ")), "account %s is not yours", d.account)
}

func (d *doctor) checkAccounting(ctx context.Context) backend.Check {
	_, err := d.History(ctx, userName(), time.Now())
	switch {
	case errors.Is(err, client.ErrNoAccounting):
		return backend.WarningCheck(accountingCheck, "keep the folders of apps: they have all results", "%v: Slurm forgets jobs some minutes after they end", err)
	case err != nil:
		return backend.WarningCheck(accountingCheck, "", "%v", err)
	}
	return backend.PassedCheck(accountingCheck, "sacct answers")
}
