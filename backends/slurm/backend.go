// Package slurm runs apps on a Slurm cluster, each as one job: a heterogeneous one with a
// component per role if the app has several.
//
//	script  plans: an app as a batch script (pure), which is also the launcher in the allocation
//	folder  the app's folder on the shared file system: plan, records of the launcher, logs
//	client  runs sbatch, squeue, sacct, scontrol, scancel, sinfo; explains their errors
//	job     what these print, in the forms of all versions (pure)
//
// Submit writes the folder and calls sbatch. The launcher starts the replicas by srun, restarts
// them, and records their starts and exits in the folder. Describe joins these records with what
// Slurm says about the job.
package slurm

import (
	"context"
	"os"
	"path/filepath"

	"torchx/backends/driver"
	"torchx/backends/slurm/client"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "slurm"

// homeFolder is the folder of a home for apps without job_dir.
const homeFolder = "slurm"

// Config configures a Backend.
type Config struct {
	Home    string   // TORCHX_HOME, absolute
	Exe     string   // this program: inside the allocation it writes the logs, here it is the agent of archives
	Version string   // of this program
	Offline bool     // the user forbids the network
	Environ []string // finds Slurm's commands, "K=V"; nil: this process's own
	// Settings returns the options of an app's submission, or for an unknown app and for ""
	// those of config files and command line. nil: no options.
	Settings func(ctx context.Context, id string) (backend.Config, error)
	// Warn receives problems that stop nothing, one line each; nil drops them.
	Warn func(line string)
}

// Backend is the slurm backend. It contacts the cluster on first use.
type Backend struct {
	backend.Observers
	config Config
	slurm  *client.Client
	queue  *queue
	files  *logstore.Hub
}

// Driver registers the backend.
func Driver() driver.Driver {
	return driver.Driver{
		Name: Name, Open: open, Pending: archives.Pending(), RunAgent: runAgent, OwnsDir: archives.Has, Commands: map[string]func([]string) (int, error){LogCommand: writeLog},
	}
}

func open(e driver.Env) (backend.Backend, error) {
	c := Config{Home: e.Home, Exe: e.Exe, Version: e.Version, Offline: e.Offline, Environ: e.Environ, Warn: e.Warn}
	if e.Settings != nil {
		c.Settings = func(ctx context.Context, id string) (backend.Config, error) { return e.Settings(ctx, Name, id) }
	}
	return New(c)
}

// New returns the backend. It runs no command and opens no file.
func New(c Config) (*Backend, error) {
	home, err := filepath.Abs(c.Home)
	if err != nil {
		return nil, err
	}
	c.Home = home
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	return &Backend{config: c, slurm: &client.Client{Environ: c.Environ, Offline: c.Offline}, queue: newQueue(), files: logstore.NewHub()}, nil
}

// Name is "slurm".
func (b *Backend) Name() string { return Name }

// Close stops watching files; apps keep running.
func (b *Backend) Close() error { return b.files.Close() }

// handleOf returns the handle of an app.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}

// baseDir returns the folder that has the folders of apps: job_dir, or that of the home.
func (b *Backend) baseDir(cfg backend.Config, cwd string) string {
	dir, _ := cfg["job_dir"].(string)
	switch {
	case dir == "":
		return filepath.Join(b.config.Home, homeFolder)
	case !filepath.IsAbs(dir):
		return filepath.Join(cwd, dir)
	}
	return filepath.Clean(dir)
}

// warn reports a problem that stops nothing.
func (b *Backend) warn(line string) {
	if b.config.Warn != nil {
		b.config.Warn(line)
	}
}

// folderOf returns the folder of an app, which need not exist: that of the options with which it
// was submitted.
func (b *Backend) folderOf(ctx context.Context, id string) (folder.Folder, error) {
	dir, err := b.appsDir(ctx, id)
	return folder.Folder(filepath.Join(dir, safefile.Escape(id))), err
}

// appsDir returns the folder that has the folder of an app, or for "" those of new apps.
func (b *Backend) appsDir(ctx context.Context, id string) (string, error) {
	cfg, err := b.settings(ctx, id)
	if err != nil {
		return "", err
	}
	cwd := "" // it may be deleted; submitted apps have an absolute job_dir
	if dir, _ := cfg["job_dir"].(string); dir != "" && !filepath.IsAbs(dir) {
		if cwd, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	return b.baseDir(cfg, cwd), nil
}

func (b *Backend) settings(ctx context.Context, id string) (backend.Config, error) {
	if b.config.Settings == nil {
		return backend.Config{}, nil
	}
	return b.config.Settings(ctx, id)
}
