// Command arch draws the packages of this module and their imports, from the output of
// `go list`: docs/architecture.svg and the table of packages in docs/architecture.md.
// `make arch` runs it. A test fails if they are stale.
// With the argument figures it prints how large the program is, and how long its ways are
// (`make figures`).
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	do := func(ctx context.Context) error { return run(ctx, ".") }
	if len(os.Args) > 1 && os.Args[1] == "figures" {
		do = func(ctx context.Context) error { return figures(ctx, ".", os.Stdout) }
	}
	if err := do(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "arch:", err)
		os.Exit(1)
	}
}

// run writes both files below docs.
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

// render returns the contents of the files, by their paths below root.
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
