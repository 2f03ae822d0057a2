package kube

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// Environment variables that locate the cluster, as for kubectl.
const (
	kubeconfigVariable = "KUBECONFIG"
	homeVariable       = "HOME"
	profileVariable    = "USERPROFILE" // Windows
	inPodVariable      = "KUBERNETES_SERVICE_HOST"
)

// ClusterRef identifies a cluster and a user.
type ClusterRef struct {
	// Kubeconfig is a file, or several as in $KUBECONFIG; "" selects $KUBECONFIG, else
	// ~/.kube/config, else, inside a pod, the pod's cluster.
	Kubeconfig string
	Context    string // name of a context in it; "" is the current one
}

// Access holds the address and the credentials of a cluster.
type Access struct {
	ClusterRef        // absolute files, the name of the context; empty inside a pod
	Namespace  string // of the context, "" if it names none
	Server     string // URL
	User       string // name in the kubeconfig; "" if none

	config *rest.Config
	stamps []string // of the files that were read
}

// Find returns the access to a cluster. It reads files and contacts no server. environ is
// "K=V"; nil is the environment of this process. Errors: backend.ErrUnavailable.
func Find(ref ClusterRef, environ []string) (*Access, error) {
	if environ == nil {
		environ = os.Environ()
	}
	a, err := find(ref, environ)
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	return a, nil
}

func find(ref ClusterRef, environ []string) (*Access, error) {
	files, from := ref.files(environ)
	stamps := stampsOf(files) // before they are read: a later change is seen
	raw, read, err := load(files, from)
	if err != nil {
		return nil, err
	}
	if len(raw.Contexts) == 0 && ref.Context == "" {
		if ref.Kubeconfig == "" && getenv(environ, inPodVariable) != "" {
			return inPod()
		}
		return nil, noContext(files, from, read)
	}
	name := cmp.Or(ref.Context, raw.CurrentContext)
	chosen, ok := raw.Contexts[name]
	switch {
	case name == "":
		return nil, fmt.Errorf("kubeconfig %s has no current context: choose one by -cfg context=NAME or `kubectl config use-context NAME` (it has %s)", strings.Join(read, ", "), names(raw))
	case !ok:
		return nil, fmt.Errorf("kubeconfig %s has no context %q: it has %s",
			strings.Join(files, ", "), name, names(raw))
	}
	if c := raw.Clusters[chosen.Cluster]; c == nil || c.Server == "" {
		return nil, fmt.Errorf("context %s of kubeconfig %s names the cluster %q, which has no server: see `kubectl config view`", name, strings.Join(files, ", "), chosen.Cluster)
	}
	if err := checkFiles(raw.Clusters[chosen.Cluster], raw.AuthInfos[chosen.AuthInfo]); err != nil {
		return nil, fmt.Errorf("context %s of kubeconfig %s: %w", name,
			strings.Join(files, ", "), err)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("context %s of kubeconfig %s: %w", name,
			strings.Join(files, ", "), oneLine(err))
	}
	return &Access{
		ClusterRef: ClusterRef{strings.Join(files, string(filepath.ListSeparator)), name},
		Namespace:  chosen.Namespace, User: chosen.AuthInfo, Server: config.Host, config: config, stamps: stamps,
	}, nil
}

// files returns the absolute paths of the kubeconfig files, and which setting names them.
func (ref ClusterRef) files(environ []string) (files []string, from string) {
	text, from := ref.Kubeconfig, "-cfg kubeconfig"
	if text == "" {
		text, from = getenv(environ, kubeconfigVariable), "$"+kubeconfigVariable
	}
	home := cmp.Or(getenv(environ, homeVariable), getenv(environ, profileVariable))
	if text == "" {
		if home == "" {
			return nil, ""
		}
		return []string{filepath.Join(home, ".kube", "config")}, ""
	}
	for _, f := range filepath.SplitList(text) {
		if expanded, err := safefile.ExpandHome(f, home); err == nil {
			f = expanded
		}
		if abs, err := filepath.Abs(f); err == nil && f != "" {
			files = append(files, abs)
		}
	}
	return files, from
}

// load merges kubeconfig files as kubectl does: the first value wins, and if several files
// are named, some may be missing. read lists the existing ones.
func load(files []string, from string) (merged *api.Config, read []string, err error) {
	for _, f := range files {
		err := checkFile(f)
		switch {
		case err == nil:
			read = append(read, f)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, fmt.Errorf("read kubeconfig: %w", err)
		case from != "" && len(files) == 1:
			return nil, nil, fmt.Errorf("kubeconfig %s not found (set by %s)", f, from)
		}
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: read}
	merged, err = rules.Load()
	if err != nil {
		return nil, nil, fmt.Errorf("read kubeconfig %s: %w",
			strings.Join(read, ", "), oneLine(err))
	}
	return merged, read, nil
}

// checkFile returns an error for a file that cannot be read. client-go would wait for a named pipe,
// and no signal ends a program that does.
func checkFile(path string) error {
	if path == os.DevNull {
		return nil
	}
	f, err := safefile.OpenInput(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// checkFiles is checkFile for the files that a context names; client-go reports missing ones.
func checkFiles(c *api.Cluster, user *api.AuthInfo) error {
	files := []string{c.CertificateAuthority}
	if user != nil {
		files = append(files, user.ClientCertificate, user.ClientKey, user.TokenFile)
	}
	for _, f := range files {
		if err := checkFile(f); f != "" && errors.Is(err, safefile.ErrNotRegular) {
			return err
		}
	}
	return nil
}

// noContext is the error if no file has a context.
func noContext(files []string, from string, read []string) error {
	const fix = "copy one there, or set $KUBECONFIG or -cfg kubeconfig=FILE"
	switch {
	case len(read) > 0:
		return fmt.Errorf("kubeconfig %s has no contexts: %s", strings.Join(read, ", "), fix)
	case from != "":
		return fmt.Errorf("kubeconfig %s not found (set by %s): %s",
			strings.Join(files, ", "), from, fix)
	case len(files) == 0:
		return errors.New("no kubeconfig: set $KUBECONFIG or -cfg kubeconfig=FILE")
	}
	return fmt.Errorf("no kubeconfig, %s not found: %s", files[0], fix)
}

// inPod returns access to the cluster of this process's pod, by its service account.
func inPod() (*Access, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("the cluster of this pod cannot be used: %w", oneLine(err))
	}
	a := &Access{Server: config.Host, User: "the service account of this pod", config: config}
	if ns, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace"); err == nil {
		a.Namespace = strings.TrimSpace(string(ns))
	}
	return a, nil
}

// String returns the cluster's name for messages.
func (a *Access) String() string {
	if a.Context == "" {
		return "the cluster of this pod"
	}
	return "context " + a.Context
}

// names lists the contexts of a kubeconfig.
func names(c *api.Config) string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(c.Contexts)), ", "), "none")
}

// getenv returns the last value of a variable in an environment.
func getenv(environ []string, name string) string {
	for _, e := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// maxKubeconfig bounds the bytes read of a file that may not be a kubeconfig.
const maxKubeconfig = 4 << 20

// TrustedFiles returns the kubeconfig files of ref, which decide which programs run, each
// followed by the programs that it names by a relative path. It leaves out the files of
// $KUBECONFIG and below ~/.kube, which belong to the user.
func (ref ClusterRef) TrustedFiles(environ []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range ref.foreignFiles(environ) {
			if !yield(f) {
				return // other users may have written it: do not read it before it is trusted
			}
			for _, program := range relativePrograms(f) {
				if !yield(program) {
					return
				}
			}
		}
	}
}

// foreignFiles returns the files of ref.Kubeconfig that do not belong to the user.
func (ref ClusterRef) foreignFiles(environ []string) []string {
	if ref.Kubeconfig == "" {
		return nil
	}
	files, _ := ref.files(environ)
	own, _ := ClusterRef{}.files(environ)
	folder := filepath.Join(cmp.Or(getenv(environ, homeVariable), getenv(environ, profileVariable)), ".kube")
	return slices.DeleteFunc(files, func(f string) bool {
		return slices.Contains(own, f) || filepath.IsAbs(folder) &&
			strings.HasPrefix(f, folder+string(filepath.Separator))
	})
}

// relativePrograms returns the credential programs of a kubeconfig, and scripts in their
// arguments, whose paths are relative to its folder; none if the file cannot be read.
func relativePrograms(file string) (programs []string) {
	data, err := safefile.ReadInput(file, maxKubeconfig)
	if err != nil {
		return nil
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		return nil
	}
	for _, user := range config.AuthInfos {
		if user.Exec == nil {
			continue
		}
		var names []string
		if strings.ContainsRune(user.Exec.Command, filepath.Separator) { // others come from PATH
			names = append(names, user.Exec.Command)
		}
		for _, name := range append(names, user.Exec.Args...) {
			path := filepath.Join(filepath.Dir(file), name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() &&
				!filepath.IsAbs(name) {
				programs = append(programs, path)
			}
		}
	}
	slices.Sort(programs)
	return slices.Compact(programs)
}
