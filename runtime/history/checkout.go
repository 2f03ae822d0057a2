package history

// Submission is who submitted an app, and with which versions. All is optional.
type Submission struct {
	Host      string    `json:"host,omitempty"`
	User      string    `json:"user,omitempty"`
	Version   string    `json:"version,omitempty"`   // of torchx, with the revision if it has one
	Libraries []Library `json:"libraries,omitempty"` // of torchx.lock, by name
}

// Library is the locked version of a component library.
type Library struct {
	Name     string `json:"name"`
	Revision string `json:"revision,omitempty"` // a tag or branch, as in torchx.libs
	Commit   string `json:"commit,omitempty"`   // in hexadecimal; "" for a folder
}

// Checkout is the state of the git checkout that an app was submitted from.
type Checkout struct {
	Root   string `json:"root"`             // its top folder, absolute
	Commit string `json:"commit"`           // in hexadecimal
	Branch string `json:"branch,omitempty"` // "": a detached HEAD
	Remote string `json:"remote,omitempty"` // URL without credentials
	// Dirty reports whether files differ from Commit or are untracked; nil: not known.
	Dirty *bool `json:"dirty"`
	// Changed and Untracked count files; an untracked folder counts once.
	Changed   int `json:"changed,omitempty"`
	Untracked int `json:"untracked,omitempty"`
	// Files and UntrackedFiles are the first names of both, relative to Root.
	Files          []string `json:"files,omitempty"`
	UntrackedFiles []string `json:"untracked_files,omitempty"`

	DiffSum   string `json:"diff_sum,omitempty"`   // SHA-256 of the stored diff, "" if none is stored
	DiffBytes int64  `json:"diff_bytes,omitempty"` // its size
	DiffStat  string `json:"diff_stat,omitempty"`  // output of git diff --stat, if the diff was too large
}
