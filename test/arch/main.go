// Command arch draws the packages of this module and how they import one another,
// from what `go list` says: docs/architecture.svg and the table of packages in
// docs/architecture.md. `make arch` runs it, and a test says when they are stale.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, "arch:", err)
		os.Exit(1)
	}
}

// run brings both files below docs up to date.
func run(ctx context.Context, root string) error {
	files, err := render(ctx, root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns what the files must be, by their paths below root.
func render(ctx context.Context, root string) (map[string]string, error) {
	g, err := load(ctx, root)
	if err != nil {
		return nil, err
	}
	page := filepath.Join("docs", "architecture.md")
	old, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, err
	}
	text, err := g.fill(string(old))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return map[string]string{page: text, filepath.Join("docs", "architecture.svg"): g.svg()}, nil
}
