package kube

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"torchx/runtime/safefile"
)

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
		return slices.Contains(own, f) || filepath.IsAbs(folder) && strings.HasPrefix(f, folder+string(filepath.Separator))
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
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(name) {
				programs = append(programs, path)
			}
		}
	}
	slices.Sort(programs)
	return slices.Compact(programs)
}
