package backend

import (
	"context"

	"torchx/runtime/spec"
)

// Sizer is a Backend that can tell what an app takes of a disk.
type Sizer interface {
	// Size returns the bytes that Delete with these options would free. Errors: ErrNotFound.
	Size(ctx context.Context, id string, o DeleteOptions) (int64, error)
}

// LogKeeper is a Backend that can leave logs of an app that it deletes, and read
// them afterwards.
type LogKeeper interface {
	// Keeps says which logs Delete with these options would leave, and where; nil
	// if none. Errors: ErrNotFound.
	Keeps(ctx context.Context, id string, o DeleteOptions) (*KeptLogs, error)
	// Kept opens a log that was left. Errors: ErrNotFound (role, replica or attempt).
	Kept(ctx context.Context, k *KeptLogs, r spec.Replica, o LogOptions) (LogReader, error)
}

// LogFinder is a LogKeeper that finds logs outside of an app when the app itself
// was removed by somebody else.
type LogFinder interface {
	// FindLogs looks where the options that an app was submitted with in folder cwd
	// put its logs; nil if there are none. Kept opens them.
	FindLogs(id string, cfg Config, cwd string, roles []spec.RoleStatus) *KeptLogs
}

// KeptLogs are the logs of an app that outlive it.
type KeptLogs struct {
	Dir    string     `json:"dir"`    // the folder that has them, absolute
	Layout string     `json:"layout"` // the backend's own word for how they lie in it
	Roles  []KeptRole `json:"roles"`
}

// KeptRole are the logs of one role.
type KeptRole struct {
	Role     string `json:"role"`
	Attempts []int  `json:"attempts"` // how many each replica has begun, by its number
}
