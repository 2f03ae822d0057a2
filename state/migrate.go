package state

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"torchx/runtime/failpoint"
)

// The schema's version is SQLite's user_version = major*1000 + minor. minor is the number of the
// last migration. Migrations only add (tables, indexes, columns with a default), so an older
// program works with a higher minor. Otherwise major increases, and older programs reject the
// file.
const (
	schemaMajor = 1
	majorFactor = 1000
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationNames returns the files in order: 0001_name.sql is minor version 1.
func migrationNames() []string {
	names, _ := fs.Glob(migrationFiles, "migrations/*.sql") // only an invalid pattern is an error
	return names
}

// migrate updates the schema and reports whether the file was empty. The common case, an
// up-to-date schema, is one read without a lock.
func migrate(ctx context.Context, s *sql.DB, o Options, readOnly bool) (created bool, err error) {
	todo, _, err := pending(ctx, s, o.Agent)
	if err != nil || len(todo) == 0 {
		return false, err
	}
	if readOnly {
		return false, fmt.Errorf("its old schema cannot be upgraded: %w", ErrReadOnly)
	}
	err = inTx(ctx, s, func(tx *sql.Tx) error {
		// Another process may have migrated it: check again under the lock.
		todo, version, err := pending(ctx, tx, o.Agent)
		if err != nil || len(todo) == 0 {
			return err
		}
		if created = version == 0; !created {
			defer o.Slow("upgrading the history for this version of torchx")()
		}
		return apply(ctx, tx, todo)
	})
	return created && err == nil, err
}

// pending returns the missing migrations, and the file's version.
func pending(ctx context.Context, q querier, agent bool) ([]string, int, error) {
	var version int
	if err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return nil, 0, err
	}
	if version/majorFactor > schemaMajor {
		if agent {
			return nil, version, nil
		}
		return nil, version, newerSchema(version)
	}
	names := migrationNames()
	return names[min(version%majorFactor, len(names)):], version, nil
}

func newerSchema(version int) error {
	return fmt.Errorf("the history was written by a newer torchx (its schema is %d.%d, this torchx supports %d.%d): "+
		"use that version, or set TORCHX_HOME to another folder: %w",
		version/majorFactor, version%majorFactor, schemaMajor, len(migrationNames()), ErrNewerSchema)
}

func apply(ctx context.Context, tx *sql.Tx, names []string) error {
	last := 0
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migrate with %s: %w", name, err)
		}
		if last, err = migrationNumber(name); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.Migrating)
	// Pragmas take no parameters.
	_, err := tx.ExecContext(ctx, `PRAGMA user_version = `+strconv.Itoa(schemaMajor*majorFactor+last))
	return err
}

var errMigrationName = errors.New("name of a migration does not start with its number")

func migrationNumber(name string) (int, error) {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, errMigrationName)
	}
	return n, nil
}
