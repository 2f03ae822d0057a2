package client

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"torchx/runtime/backend"
)

// Classes of errors, beside backend.ErrUnavailable and backend.ErrNotFound.
var (
	// ErrNoAccounting means that the cluster records no jobs that ended.
	ErrNoAccounting = errors.New("no accounting")
	// ErrEnded means that the job has ended.
	ErrEnded = errors.New("job ended")
	// ErrRefused means that Slurm refuses what the user asks for.
	ErrRefused = errors.New("refused")
)

// Error is a failure of a command of Slurm.
type Error struct {
	Command string
	Why     string // in plain words
	Fix     string // what to do; "" if nothing is known
	Slurm   string // Slurm's own words, one line
	class   error
}

func (e *Error) Error() string { return e.Command + " failed: " + withFix(e.Why, e.Fix) }

// Is reports whether the error is of a class.
func (e *Error) Is(target error) bool { return target == e.class }

// noReason stands for the words of a command that printed none.
const noReason = "it printed no reason"

// unsentError is an error without which the controller has got no request.
type unsentError struct{ error }

func (e unsentError) Unwrap() error { return e.error }

// IsUnsent reports whether Slurm's controller certainly did not carry out what a command asked for,
// because the command could not reach it.
func IsUnsent(err error) bool {
	var e unsentError
	return errors.As(err, &e)
}

// unsent lists parts of what a command prints that sent nothing. Other failures to reach a
// controller, such as a lost answer, may come after the request.
var unsent = []string{"(connect failure)", "Could not establish a configuration source", "Unable to process configuration file", "Munge encode", "backup controller in standby mode"}

func withFix(why, fix string) string {
	if fix == "" {
		return why
	}
	return why + " (" + fix + ")"
}

// Remedies that several errors have.
const (
	fixPing      = "see `scontrol ping`, and try again"
	fixAccount   = "choose another by -cfg account=NAME, see `sacctmgr show associations user=$USER`"
	fixPartition = "choose another by -cfg partition=NAME, see `sinfo`"
	fixResources = "ask for less in the role's resource, or for another partition, see `sinfo -o '%P %D %c %m %G %f'`"
	fixAdmin     = "ask the administrator"
)

// known explains the errors of Slurm by a part of their text (slurm_errno.c). The first match
// counts.
var known = []struct {
	part     string
	class    error
	why, fix string
}{
	{"accounting storage is disabled", ErrNoAccounting, "the cluster has no accounting", ""},
	{"not running a supported accounting_storage plugin", ErrNoAccounting, "the cluster has no accounting", ""},
	{"failed to open persistent connection", ErrNoAccounting, "the accounting service slurmdbd does not answer", fixAdmin},
	{"Unable to contact slurmdbd", ErrNoAccounting, "the accounting service slurmdbd does not answer", fixAdmin},
	{"Problem talking to the database", ErrNoAccounting, "the accounting service slurmdbd does not answer", fixAdmin},
	{"Invalid job id specified", backend.ErrNotFound, "Slurm knows no such job", ""},
	{"Invalid job array ID", backend.ErrNotFound, "Slurm knows no such job", ""},
	{"already completing or completed", ErrEnded, "the job has ended", ""},
	{"Job has already finished", ErrEnded, "the job has ended", ""},
	{"already finished", ErrEnded, "the job has ended", ""},

	{"Unable to contact slurm controller", backend.ErrUnavailable, "Slurm's controller does not answer", fixPing},
	{"Socket timed out", backend.ErrUnavailable, "Slurm's controller does not answer in time", fixPing},
	{"Zero Bytes were transmitted", backend.ErrUnavailable, "Slurm's controller cut the connection", fixPing},
	{"Slurm backup controller in standby mode", backend.ErrUnavailable, "only Slurm's backup controller answers", fixPing},
	{"Could not establish a configuration source", backend.ErrUnavailable, "this machine knows no Slurm cluster", "use a login node of the cluster, or set SLURM_CONF"},
	{"Unable to process configuration file", backend.ErrUnavailable, "Slurm's configuration cannot be read", "check SLURM_CONF"},
	{"Munge ", backend.ErrUnavailable, "this machine cannot prove who you are to the cluster", "check munged: `munge -n | unmunge`"},
	{"munged ", backend.ErrUnavailable, "this machine cannot prove who you are to the cluster", "check munged: `munge -n | unmunge`"},
	{"rotocol authentication error", backend.ErrUnavailable, "the cluster does not trust this machine", "check munged and the clock: `munge -n | unmunge`"},
	{"Incompatible versions", backend.ErrUnavailable, "the commands here have another version than the cluster", fixAdmin},

	{"Access/permission denied", ErrRefused, "you may not do this", "only the job's owner or an operator of the cluster may"},
	{"Invalid user id", ErrRefused, "the cluster does not know you", fixAdmin},
	{"Invalid account or account/partition", ErrRefused, "you may not use this account, or not with this partition", fixAccount},
	{"Invalid account", ErrRefused, "you may not use this account", fixAccount},
	{"nvalid partition", ErrRefused, "there is no such partition", fixPartition},
	{"No partition specified or system default partition", ErrRefused, "the cluster has no default partition", fixPartition},
	{"not permitted to use this partition", ErrRefused, "you may not use this partition", fixPartition},
	{"partition not available (inactive or drain)", ErrRefused, "the partition accepts no jobs now", fixPartition},
	{"Access to partition denied", ErrRefused, "you may not use this partition", fixPartition},
	{"Requested partition configuration not available now", ErrRefused, "the partition cannot run it now", fixPartition},
	{"nvalid qos", ErrRefused, "you may not use this QOS", "choose another by -cfg qos=NAME, see `sacctmgr show qos`"},
	{"Job violates accounting/QOS policy", ErrRefused, "it exceeds a limit of your account or QOS", "end other jobs, ask for less, or see `sacctmgr show associations user=$USER` and `sacctmgr show qos`"},
	{"Requested time limit is invalid", ErrRefused, "the time limit is longer than the partition allows", "ask for less by -cfg time=TIME"},
	{"Time limit specification required", ErrRefused, "the partition requires a time limit", "give one by -cfg time=TIME"},
	{"nvalid --time specification", ErrRefused, "the time limit is not one of Slurm's forms", "write minutes, HH:MM:SS or D-HH:MM:SS"},
	{"nvalid time limit", ErrRefused, "the time limit is not one of Slurm's forms", "write minutes, HH:MM:SS or D-HH:MM:SS"},
	{"nvalid feature specification", ErrRefused, "no node has this feature", "choose another by -cfg constraint=FEATURE, see `sinfo -o '%N %f'`"},
	{"Memory specification can not be satisfied", ErrRefused, "no node of the partition has so much memory", fixResources},
	{"Memory required by task is not available", ErrRefused, "no node of the partition has so much memory", fixResources},
	{"CPU count per node can not be satisfied", ErrRefused, "no node of the partition has so many CPUs", fixResources},
	{"nvalid generic resource", ErrRefused, "the cluster has no such devices (GPUs)", fixResources},
	{"nvalid Trackable RESource", ErrRefused, "the cluster has no such devices (GPUs)", fixResources},
	{"Requested node configuration is not available", ErrRefused, "no nodes of the partition have what it asks for", fixResources},
	{"Node count specification invalid", ErrRefused, "the partition has too few nodes", fixResources},
	{"Requested nodes are busy", ErrRefused, "the nodes are busy", "try again later"},
	{"Required node not available", ErrRefused, "nodes that it needs are down, drained or reserved", "see `sinfo -R`"},
	{"equested reservation", ErrRefused, "you may not use this reservation", "see `scontrol show reservation`"},
	{"Job dependency problem", ErrRefused, "the job that it depends on does not exist", ""},
	{"unable to accept job", ErrRefused, "Slurm accepts no more jobs now", "try again later"},
	{"temporarily unable to", ErrRefused, "Slurm accepts no more jobs now", "try again later"},
	{"I/O error writing script", ErrRefused, "the disk of Slurm's controller is full or broken", fixAdmin},
	{"too long", ErrRefused, "the script, or a value in it, is too long for Slurm", "make arguments and variables shorter, or pass them in a file"},
}

// explain returns the error of a command that printed stderr.
func explain(command, stderr string) error {
	text := plainText(stderr, noReason)
	for _, k := range known {
		if !strings.Contains(stderr, k.part) {
			continue
		}
		err := &Error{Command: command, Why: k.why, Fix: k.fix, Slurm: text, class: k.class}
		if slices.ContainsFunc(unsent, func(part string) bool { return strings.Contains(stderr, part) }) {
			return unsentError{err}
		}
		return err
	}
	return &Error{Command: command, Why: text, Slurm: text}
}

// maxText bounds the characters shown of Slurm's own words.
const maxText = 300

// plainText returns the last error that a command printed, as one line.
func plainText(stderr, otherwise string) string {
	last, lastError := "", ""
	for line := range strings.Lines(stderr) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" {
			last = line
		}
		for _, mark := range []string{"error: ", "fatal: "} {
			if _, text, ok := strings.Cut(line, mark); ok {
				lastError = text
			}
		}
	}
	text := []rune(cmp.Or(lastError, last, otherwise))
	if len(text) > maxText {
		text = append(text[:maxText], '…')
	}
	return string(text)
}
