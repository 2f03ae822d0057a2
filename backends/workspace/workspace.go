// Package workspace turns local project folders into the build context of an
// image. It reads files and contacts nobody: the image's name follows from what
// is in the folders, so a plan can name an image that is not built yet.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// Dockerfile is what a project may have to say how its image is built; it is
	// never ignored.
	Dockerfile = "Dockerfile.torchx"
	// Repository is the name of built images; the tag is the hash of their content.
	Repository = "torchx-workspace"

	ignoreFile = ".dockerignore"

	// defaultDockerfile is that of TorchX.
	defaultDockerfile = "ARG IMAGE\nFROM $IMAGE\nCOPY . .\n"
)

// Project is a local folder or file and where it goes.
type Project struct {
	Path string // absolute
	Into string // folder (or name, for a file) below the image's working folder; "" is that folder
}

// Tree is what goes into an image. Scan makes one; it does not change.
type Tree struct {
	Projects   []Project
	Files      int      // regular files and links
	Bytes      int64    // of regular files
	Skipped    []string // sockets, pipes and devices, which an image cannot hold
	Dockerfile string   // the text that builds the image

	entries []entry // by path
}

// entry is a file, folder or link of the context.
type entry struct {
	path   string // in the context, with slashes
	source string // on disk; "" for text and for folders that only hold projects
	mode   fs.FileMode
	size   int64
	link   string // target of a link
	text   string // content, where there is no source
}

// Scan lists what the projects hold, without what their .dockerignore leaves out.
// Of files with the same place the last one counts. Errors: one line with the
// path that cannot be read.
func Scan(projects []Project) (*Tree, error) {
	t := &Tree{Projects: projects}
	found := map[string]entry{}
	for _, p := range projects {
		if err := t.add(found, p); err != nil {
			return nil, fmt.Errorf("workspace %s: %w", p.Path, err)
		}
	}
	if err := t.addDockerfile(found); err != nil {
		return nil, err
	}
	for _, e := range found {
		t.entries = append(t.entries, e)
		if e.source != "" && !e.mode.IsDir() {
			t.Files++
			t.Bytes += e.size
		}
	}
	slices.SortFunc(t.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return t, t.checkPlaces()
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
	if at, ok := found[into]; into == "" || strings.HasSuffix(p.Into, "/") || ok && at.mode.IsDir() {
		into = path.Join(into, filepath.Base(p.Path))
	}
	addParents(found, into)
	return t.addEntry(found, root, into, info)
}

// addParents adds the folders that lead to a place in the context.
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
	data, err := os.ReadFile(e.source)
	if err != nil {
		return fmt.Errorf("workspace: %w", plain(err))
	}
	t.Dockerfile = string(data)
	return nil
}

// checkPlaces refuses a file in the place of a folder, which several projects can make.
func (t *Tree) checkPlaces() error {
	kinds := map[string]fs.FileMode{}
	for _, e := range t.entries {
		kinds[e.path] = e.mode
	}
	for _, e := range t.entries {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if mode, ok := kinds[dir]; ok && !mode.IsDir() {
				return fmt.Errorf("workspace: %s would be a file and a folder: give its projects other places", dir)
			}
		}
	}
	return nil
}

// plain leaves the words of the system call out.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s: %w", at.Path, at.Err)
	}
	return err
}
