-- Devices of this machine that live apps have to themselves. What counts is the
-- claim in the bundle of a live app; the rows are kept in step with it, and say
-- who has a device when a bundle was deleted. No reference to apps: an app that
-- could not be recorded has devices as well.
CREATE TABLE leases (
    device  TEXT    NOT NULL PRIMARY KEY, -- what CUDA_VISIBLE_DEVICES takes
    backend TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    role    TEXT    NOT NULL,
    replica INTEGER NOT NULL,
    since   INTEGER NOT NULL
) WITHOUT ROWID;
