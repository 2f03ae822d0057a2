package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/state"
)

// checkTime bounds one check of the home.
const checkTime = 10 * time.Second

// Free space in bytes: less than lowSpace is a warning; less than tinySpace means that logs and
// results are about to be lost.
const (
	lowSpace  = 1 << 30
	tinySpace = 32 << 20
)

// examineHome returns the checks of TORCHX_HOME; if the folder is not usable, only that check.
func examineHome(ctx context.Context, f *program.Factory, home string) []backend.Check {
	checks := backend.RunDiagnostics(ctx, checkTime, []backend.Diagnostic{
		{Name: "folder", Run: func(context.Context) backend.Check { return folderCheck(home) }},
	})
	if checks[0].Level == backend.LevelFailure {
		return checks
	}
	return append(checks, backend.RunDiagnostics(ctx, checkTime, []backend.Diagnostic{
		{Name: "disk", Run: func(context.Context) backend.Check { return diskCheck(home) }},
		{Name: "history", Run: func(ctx context.Context) backend.Check { return historyCheck(ctx, home) }},
		{Name: "kept aside", Run: func(context.Context) backend.Check { return asideCheck(home) }},
		{Name: "configuration", Run: func(context.Context) backend.Check { return configurationCheck(f) }},
	})...)
}

// folderCheck creates the home if it is missing, as every command does, and writes a file to it.
func folderCheck(home string) backend.Check {
	const name = "folder"
	const fix = "set TORCHX_HOME to a writable folder on a local disk"
	if err := os.MkdirAll(home, 0o700); err != nil {
		return backend.FailedCheck(name, fix, "cannot be created: %v", program.PathCause(err))
	}
	f, err := os.CreateTemp(home, ".doctor-*")
	if err != nil {
		return backend.FailedCheck(name, fix, "not writable: %v", program.PathCause(err))
	}
	_, err = f.WriteString("x")
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name())); err != nil {
		return backend.FailedCheck(name, fix, "a file in it cannot be written: %v",
			program.PathCause(err))
	}
	info, err := os.Stat(home)
	if err != nil {
		return backend.FailedCheck(name, fix, "cannot be inspected: %v", program.PathCause(err))
	}
	if others := info.Mode().Perm() & 0o077; hasModes && others != 0 {
		return backend.WarningCheck(name, "chmod 700 "+home, "other users have access (mode %04o), but logs and variables are private", info.Mode().Perm())
	}
	return backend.PassedCheck(name, "writable, only by you")
}

func diskCheck(home string) backend.Check {
	const name = "disk"
	free, files, err := freeSpace(home)
	if err != nil {
		return backend.WarningCheck(name, "see `df "+home+"`", "the free space is unknown: %v", err)
	}
	text := ui.BytesText(free) + " free"
	const fix = "free some space, for example with `torchx prune`, or set TORCHX_HOME to another disk"
	switch {
	case free < tinySpace:
		return backend.FailedCheck(name, fix, "%s: logs will be incomplete", text)
	case files >= 0 && files < 1000:
		return backend.WarningCheck(name, "delete small files on this disk",
			"%s, but room for only %d more files", text, files)
	case free < lowSpace:
		return backend.WarningCheck(name, fix, "%s", text)
	}
	return backend.PassedCheck(name, "%s", text)
}

// historyCheck opens and checks the history. A damaged file stays in place.
func historyCheck(ctx context.Context, home string) backend.Check {
	const name = "history"
	db, err := state.Open(ctx, filepath.Join(home, program.HistoryFile),
		state.Options{BusyTimeout: 2 * time.Second})
	switch {
	case errors.Is(err, state.ErrCorrupt):
		return backend.FailedCheck(name, "run `torchx list`: it moves the file aside and rebuilds the history from the apps' folders",
			"%s is damaged", program.HistoryFile)
	case errors.Is(err, state.ErrLocked):
		return backend.WarningCheck(name, "find that process, for example with `lsof`; meanwhile, apps run without the history",
			"another process has locked %s", program.HistoryFile)
	case err != nil:
		return backend.FailedCheck(name, "see the message", "%v", err)
	}
	defer func() { _ = db.CloseForExit() }() // nothing was written
	h, err := db.Check(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return backend.WarningCheck(name, "remove old apps with `torchx prune`",
			"%d apps in %s are too many to check in %v", h.Apps, ui.BytesText(h.Bytes), checkTime)
	case err != nil:
		return backend.FailedCheck(name, "move "+db.Path()+" and its -wal file away: torchx rebuilds the history from the apps' folders", "%v", err)
	case db.ReadOnly() || len(db.Notices()) > 0:
		return backend.WarningCheck(name, "set TORCHX_HOME to a writable folder on a local disk",
			"%s", strings.Join(db.Notices(), "; "))
	}
	return backend.PassedCheck(name, "%s in %s, intact (journal: %s)", ui.Counted(h.Apps, "app"),
		ui.BytesText(h.Bytes), h.Journal)
}

// asideCheck reports damaged histories that were moved aside.
func asideCheck(home string) backend.Check {
	const name = "kept aside"
	found, _ := filepath.Glob(filepath.Join(globQuote(home), program.HistoryFile+".corrupt-*"))
	if len(found) == 0 {
		return backend.PassedCheck(name, "no damaged history")
	}
	size := int64(0)
	for _, f := range found {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	return backend.WarningCheck(name, "delete them if you do not need them: rm "+filepath.Join(home, program.HistoryFile+".corrupt-*"),
		"%s of damaged histories, %s", ui.Counted(len(found), "file"), ui.BytesText(size))
}

// globQuote escapes the special characters of glob patterns.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func configurationCheck(f *program.Factory) backend.Check {
	const name = "configuration"
	conf, err := f.Config()
	if err != nil {
		return backend.FailedCheck(name, "correct the file, or set TORCHXCONFIG to another file or to an empty value", "%v", err)
	}
	var names []string
	for _, file := range conf.Files() {
		names = append(names, f.ShortPath(file))
	}
	if len(names) == 0 {
		return backend.PassedCheck(name, "no .torchxconfig found")
	}
	return backend.PassedCheck(name, "%s (see `torchx config explain`)", strings.Join(names, ", "))
}
