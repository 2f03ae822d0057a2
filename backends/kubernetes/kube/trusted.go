package kube

import (
	"cmp"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// maxKubeconfig bounds what is read of a file that may be none, in bytes.
const maxKubeconfig = 4 << 20

// TrustedFiles returns the kubeconfig files of p.Kubeconfig that decide which programs run,
// each followed by the programs that it names by a relative path. It leaves out the files of
// $KUBECONFIG and those below ~/.kube: they are the user's own.
func (p ClusterRef) TrustedFiles(environ []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range p.foreignFiles(environ) {
			if !yield(f) {
				return // others may have written it: it is not read before it is trusted
			}
			for _, program := range programsBeside(f) {
				if !yield(program) {
					return
				}
			}
		}
	}
}

// foreignFiles returns the files of p.Kubeconfig that are not the user's own.
func (p ClusterRef) foreignFiles(environ []string) []string {
	if p.Kubeconfig == "" {
		return nil
	}
	files, _ := p.files(environ)
	own, _ := ClusterRef{}.files(environ)
	folder := filepath.Join(cmp.Or(getenv(environ, homeVariable), getenv(environ, profileVariable)), ".kube")
	return slices.DeleteFunc(files, func(f string) bool {
		return slices.Contains(own, f) || filepath.IsAbs(folder) && strings.HasPrefix(f, folder+string(filepath.Separator))
	})
}

// programsBeside returns the credential programs of a kubeconfig, and scripts among their
// arguments, that are relative to its folder; none of a file that cannot be read.
func programsBeside(file string) (programs []string) {
	config, err := readKubeconfig(file)
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
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(name) {
				programs = append(programs, path)
			}
		}
	}
	slices.Sort(programs)
	return slices.Compact(programs)
}

func readKubeconfig(file string) (*api.Config, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKubeconfig))
	if err != nil {
		return nil, err
	}
	return clientcmd.Load(data)
}
