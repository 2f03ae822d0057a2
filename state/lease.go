package state

import (
	"context"
	"database/sql"
	"time"

	"torchx/runtime/history"
)

// Lease implements history.Leaser, in one transaction.
func (db *DB) Lease(ctx context.Context, r history.LeaseRequest) (held []history.Lease, err error) {
	live := make(map[history.AppKey]bool, len(r.Live))
	for _, k := range r.Live {
		live[k] = true
	}
	err = db.write(ctx, "lease devices", func(tx *sql.Tx) error {
		held = nil // in case of a retry
		before, err := queryLeases(ctx, tx)
		if err != nil {
			return err
		}
		owner := map[string]history.Lease{}
		var ended []history.Lease
		for _, l := range before {
			if live[l.App] {
				owner[l.Device] = l
			} else {
				ended = append(ended, l)
			}
		}
		for _, l := range r.Own {
			if o, ok := owner[l.Device]; ok && o.App != l.App {
				held = append(held, o)
			}
		}
		if err := dropLeases(ctx, tx, ended); err != nil {
			return err
		}
		if err := putLeases(ctx, tx, r.Others); err != nil || len(held) > 0 {
			return err
		}
		return putLeases(ctx, tx, r.Own)
	})
	return held, err
}

// Leases returns all leases by device. A lease may outlive its app until the next Lease, or until
// the app's end is recorded.
func (db *DB) Leases(ctx context.Context) ([]history.Lease, error) {
	var leases []history.Lease
	err := db.read(ctx, "read leases", func() (err error) {
		leases, err = queryLeases(ctx, db.sql)
		return err
	})
	return leases, err
}

const leaseColumns = `device, backend, id, role, replica, since`

func queryLeases(ctx context.Context, q querier) ([]history.Lease, error) {
	return queryAll(ctx, q, func(row scanner) (l history.Lease, err error) {
		var since int64
		err = row.Scan(&l.Device, &l.App.Backend, &l.App.ID, &l.Role, &l.Replica, &since)
		l.Since = time.Unix(0, since).UTC()
		return l, err
	}, `SELECT `+leaseColumns+` FROM leases ORDER BY device`)
}

// putLeases adds leases and keeps existing ones.
func putLeases(ctx context.Context, tx *sql.Tx, leases []history.Lease) error {
	return execAll(ctx, tx, leases, func(l history.Lease) []any {
		return []any{l.Device, l.App.Backend, l.App.ID, l.Role, l.Replica, l.Since.UnixNano()}
	}, `INSERT OR IGNORE INTO leases (`+leaseColumns+`) VALUES (?, ?, ?, ?, ?, ?)`)
}

func dropLeases(ctx context.Context, tx *sql.Tx, leases []history.Lease) error {
	return execAll(ctx, tx, leases, func(l history.Lease) []any { return []any{l.Device} }, `DELETE FROM leases WHERE device = ?`)
}

// endLeases deletes the leases of an app that has ended.
func endLeases(ctx context.Context, tx *sql.Tx, app int64) error {
	_, err := tx.ExecContext(ctx,
		`DELETE FROM leases WHERE (backend, id) = (SELECT backend, id FROM apps WHERE seq = ?)`, app)
	return err
}
