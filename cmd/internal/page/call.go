package page

import (
	"context"
	"encoding/json"
	"fmt"

	"torchx/cmd/internal/program"
)

// Call is the hidden command api.CallCommand: it runs the command line that stdin has as a JSON
// array. A command line of the page can have secrets, and other users can read arguments.
func Call(ctx context.Context, f *program.Factory, _ []string) error {
	var words []string
	if err := json.NewDecoder(f.In).Decode(&words); err != nil {
		return fmt.Errorf("read the command line from stdin: %w (the page calls this command)", err)
	}
	return f.Command(ctx, words)
}
