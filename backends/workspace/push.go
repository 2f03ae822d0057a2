package workspace

import (
	"context"

	"torchx/runtime/backend"
)

// Push is an image that is to go to a repository.
type Push struct {
	Local  string // its name or id on this machine
	Remote string // reference with the tag
	// Tree, if not nil, is what the image is built from onto Base, where no image is
	// called Local yet.
	Tree *Tree
	Base string
}

// PushOptions say how images are pushed.
type PushOptions struct {
	Quiet    bool // no output of builds that succeed
	Progress backend.Progress
}

// Pusher builds and pushes images, for backends whose machines are elsewhere.
// Errors: one line; backends.ErrUnavailable where there is nothing to build with.
type Pusher interface {
	Push(ctx context.Context, images []Push, o PushOptions) error
}
