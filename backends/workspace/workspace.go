// Package workspace turns local project folders into the build context of an image. It
// only reads files: the image's name is derived from the contents of the folders, so a
// plan can name an image that is not built yet. Scan returns the files as a Tree, without
// those in .dockerignore; Tree.Name returns the name; Tree.Write writes the build context.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

const (
	// Dockerfile is the name of the file by which a project defines how to build its image.
	// It is never ignored.
	Dockerfile = "Dockerfile.torchx"
	// Repository is the name of built images. The tag is the hash of their content.
	Repository = "torchx-workspace"

	ignoreFile = ".dockerignore"
	// copyIgnoreFile replaces ignoreFile in projects that are copied to a folder, as in TorchX.
	copyIgnoreFile = ".torchxignore"
	// maxText is the maximum size of both files, in bytes.
	maxText = 4 << 20

	// defaultDockerfile is that of TorchX.
	defaultDockerfile = "ARG IMAGE\nFROM $IMAGE\nCOPY . .\n"
)

// Project is a local folder or file and its destination.
type Project struct {
	Path string // absolute
	Into string // folder, or name of a file, below the image's working folder; "" is that folder
}

// Tree is the content of an image, as Scan found it.
type Tree struct {
	Projects   []Project
	Files      int      // regular files and links
	Bytes      int64    // of regular files
	Skipped    []string // sockets, pipes and devices, which an image cannot contain
	Dockerfile string   // the text that builds the image

	entries []entry // sorted by path
	isCopy  bool    // for a folder instead of an image
}

// entry is a file, folder or link of the context.
type entry struct {
	path   string // in the context, with slashes
	source string // on disk; "" for text and for parent folders of projects
	mode   fs.FileMode
	size   int64
	link   string // target of a link
	text   string // content, if source is ""
}

// Sources returns the paths on disk of all files, links and folders.
func (t *Tree) Sources() (all []string) {
	for _, e := range t.entries {
		if e.source != "" {
			all = append(all, e.source)
		}
	}
	return all
}

// Scan returns the files of the projects, without those that their .dockerignore excludes.
// Of files with the same destination, the last one wins. Errors: one line with the path
// that cannot be read.
func Scan(projects []Project) (*Tree, error) { return scan(&Tree{Projects: projects}) }

func scan(t *Tree) (*Tree, error) {
	found := map[string]entry{}
	for _, p := range t.Projects {
		if err := t.add(found, p); err != nil {
			return nil, fmt.Errorf("workspace %s: %w", p.Path, err)
		}
	}
	if !t.isCopy {
		if err := t.addDockerfile(found); err != nil {
			return nil, err
		}
	}
	for _, e := range found {
		t.entries = append(t.entries, e)
		if e.source != "" && !e.mode.IsDir() {
			t.Files++
			t.Bytes += e.size
		}
	}
	slices.SortFunc(t.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return t, t.checkConflicts(found)
}

func (t *Tree) add(found map[string]entry, p Project) error {
	into := path.Clean("/" + filepath.ToSlash(p.Into))[1:] // never above the context
	root, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return plain(err)
	}
	info, err := os.Stat(root)
	if err != nil {
		return plain(err)
	}
	if info.IsDir() {
		addParents(found, path.Join(into, "x"))
		return t.addFolder(found, root, into)
	}
	if at, ok := found[into]; into == "" || strings.HasSuffix(p.Into, "/") ||
		ok && at.mode.IsDir() {
		into = path.Join(into, filepath.Base(p.Path))
	}
	addParents(found, into)
	return t.addEntry(found, root, into, info)
}

// addParents adds the parent folders of a path in the context.
func addParents(found map[string]entry, at string) {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if _, ok := found[dir]; !ok {
			found[dir] = entry{path: dir, mode: fs.ModeDir | 0o755}
		}
	}
}

// addEntry adds one file, link or folder.
func (t *Tree) addEntry(found map[string]entry, source, at string, info fs.FileInfo) error {
	e := entry{path: at, source: source, mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		e.size = info.Size()
	case info.IsDir():
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(source)
		if err != nil {
			return plain(err)
		}
		e.link = link
	case at == Dockerfile:
		return fmt.Errorf("workspace: %s is not a regular file (remove it)", source)
	default:
		t.Skipped = append(t.Skipped, source)
		return nil
	}
	found[at] = e
	return nil
}

// addDockerfile reads the project's Dockerfile or adds the default one, as TorchX does.
func (t *Tree) addDockerfile(found map[string]entry) error {
	e, ok := found[Dockerfile]
	if !ok {
		t.Dockerfile = defaultDockerfile
		found[Dockerfile] = entry{path: Dockerfile, mode: 0o644, size: int64(len(defaultDockerfile)), text: defaultDockerfile}
		return nil
	}
	data, err := safefile.ReadInput(e.source, maxText)
	if err != nil {
		return fmt.Errorf("workspace: %w", plain(err))
	}
	t.Dockerfile = string(data)
	return nil
}

// checkConflicts refuses a path that is a file in one project and a folder in another.
func (t *Tree) checkConflicts(found map[string]entry) error {
	for _, e := range t.entries {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if at, ok := found[dir]; ok && !at.mode.IsDir() {
				return fmt.Errorf("workspace: %s would be a file and a folder: use different destinations for the projects", dir)
			}
		}
	}
	return nil
}

// plain returns an error without the name of the system call.
func plain(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}

// CheckLocal refuses URLs, such as s3://, gs:// and memory://, which TorchX reads with fsspec.
func CheckLocal(project string) error {
	scheme, _, ok := strings.Cut(project, "://")
	if !ok || scheme == "file" || strings.ContainsAny(scheme, "/\\") {
		return nil
	}
	return fmt.Errorf("%s is a URL, but a workspace is a local folder: copy it to this machine and pass its path (file:///PATH is allowed)", project)
}

// Absolute returns the absolute path of a project, relative to cwd. It accepts ~ and, as
// TorchX does, file://. The project must exist.
func Absolute(dir, cwd string) (string, error) {
	if err := CheckLocal(dir); err != nil {
		return "", err
	}
	dir = strings.TrimPrefix(dir, "file://")
	dir, err := safefile.ExpandHome(dir, "")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("%s does not exist", dir)
	}
	return filepath.Clean(dir), nil
}

// Push is an image to push to a repository.
type Push struct {
	Local  string // its name or ID on this machine
	Remote string // reference with the tag
	// Tree, if not nil, is the workspace from which to build the image on Base if Local
	// does not exist.
	Tree *Tree
	Base string
}

// PushOptions are options of Pusher.Push.
type PushOptions struct {
	Quiet    bool // no output of successful builds
	Progress backend.Progress
}

// Pusher builds and pushes images, for backends with remote machines. Errors: one line;
// backend.ErrUnavailable if it cannot build images.
type Pusher interface {
	Push(ctx context.Context, images []Push, o PushOptions) error
}

// Projects returns the folders of a role's workspace and makes their paths absolute in the
// role. Relative ones start at cwd.
func Projects(role *spec.Role, cwd string) (projects []Project, err error) {
	if role.Workspace == nil {
		return nil, nil
	}
	for n, e := range role.Workspace.Projects {
		dir, err := Absolute(e.Key, cwd)
		if err != nil {
			return nil, fmt.Errorf("workspace %q of role %s: %w", e.Key, role.Name, err)
		}
		role.Workspace.Projects[n].Key = dir
		projects = append(projects, Project{Path: dir, Into: e.Value})
	}
	return projects, nil
}

// Warnings returns a line about skipped files, if there are any.
func (t *Tree) Warnings() []string {
	if len(t.Skipped) == 0 {
		return nil
	}
	return []string{"images cannot contain sockets, pipes and devices: skipped " + strings.Join(t.Skipped, ", ")}
}
