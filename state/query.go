package state

import (
	"context"
	"database/sql"
	"errors"
)

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is a *sql.Row or a *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// queryAll returns the result of scan for each row.
func queryAll[T any](
	ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any,
) (all []T, err error) {
	err = eachRow(ctx, q, func(row scanner) error {
		v, err := scan(row)
		all = append(all, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// eachRow calls scan for each row, until it returns an error.
func eachRow(
	ctx context.Context, q querier, scan func(scanner) error, query string, args ...any,
) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// execAll runs one statement for each value.
func execAll[T any](
	ctx context.Context, tx *sql.Tx, values []T, args func(T) []any, query string,
) (err error) {
	if len(values) == 0 {
		return nil
	}
	s, err := tx.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, v := range values {
		if _, err := s.ExecContext(ctx, args(v)...); err != nil {
			return err
		}
	}
	return nil
}
