package library

// Folder returns the folder that replaces a library of the project at root, to be
// edited beside it; false if none does.
func (s *Set) Folder(root, name string) (string, bool) {
	st, err := s.state(root)
	if err != nil || st.project == nil {
		return "", false
	}
	r, ok := st.project.Replacement(name)
	if !ok {
		return "", false
	}
	return folderOf(root, r.Folder), true
}
