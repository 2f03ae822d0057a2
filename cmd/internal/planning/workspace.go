package planning

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"torchx/backends/workspace"
	"torchx/cmd/internal/program"
	"torchx/runtime/config"
	"torchx/runtime/spec"
)

// projectMarks are files and folders that make their folder a project.
var projectMarks = []string{config.FileName, "Dockerfile.torchx", ".git"}

// parseWorkspace parses --workspace, which is YAML as in TorchX: a folder, or a map of local
// folders to folders in the image.
func parseWorkspace(text string) (*spec.Workspace, error) {
	var doc yaml.Node
	// Text that is not YAML is the name of a folder, too.
	isYAML := yaml.Unmarshal([]byte(text), &doc) == nil
	if !isYAML || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return &spec.Workspace{Projects: spec.Map[string]{{Key: text}}}, nil
	}
	w := &spec.Workspace{}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, fmt.Errorf("%q is neither a folder nor a map of folders (write {FOLDER: TARGET, FOLDER2: TARGET2})", text)
		}
		if value.Tag == "!!null" {
			value.Value = ""
		}
		w.Projects.Set(key.Value, value.Value)
	}
	return w, nil
}

// applyWorkspace sets the workspace of the first role to --workspace, as TorchX does. Other
// roles keep theirs.
func applyWorkspace(app *spec.App, text string) (*spec.App, error) {
	if len(app.Roles) == 0 {
		return app, nil
	}
	w, err := parseWorkspace(text)
	for i := 0; err == nil && i < len(w.Projects); i++ {
		err = workspace.CheckLocal(w.Projects[i].Key)
	}
	if err != nil {
		return nil, program.Usagef("run", "--workspace: %v", err)
	}
	app = app.Clone()
	app.Roles[0].Workspace = w
	return app, nil
}

// WorkspaceFolders returns the folders and files of the workspaces that a plan of the app would
// use, absolute.
func WorkspaceFolders(f *program.Factory, o Options, app *spec.App) (all []string, err error) {
	if o.Workspace != "" {
		if app, err = applyWorkspace(app, o.Workspace); err != nil {
			return nil, err
		}
	}
	for i := range app.Roles {
		w := app.Roles[i].Workspace
		if w == nil {
			continue
		}
		for _, project := range w.Projects {
			all = append(all, f.Env.Absolute(strings.TrimPrefix(project.Key, "file://")))
		}
	}
	if dir, _ := defaultWorkspace(f); dir != "" && !o.HasWorkspace {
		all = append(all, dir)
	}
	return all, nil
}

// defaultWorkspace returns the working folder if it is a project, else "", and the reason
// for backend.PlanInput. The home folder and the root are never a workspace.
func defaultWorkspace(f *program.Factory) (dir, why string) {
	dir = f.Env.Dir
	if dir == filepath.Dir(dir) || sameFolder(dir, f.Env.Get("HOME")) {
		return "", fmt.Sprintf("no workspace: %s is never used as a whole (choose a folder with --workspace)", dir)
	}
	for _, mark := range projectMarks {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return dir, fmt.Sprintf("the working folder, which has %s; --workspace= turns it off", mark)
		}
	}
	return "", fmt.Sprintf("no workspace: %s is not a project (it has no %s, %s or %s)", dir,
		projectMarks[0], projectMarks[1], projectMarks[2])
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil || b == "" {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
