-- What was removed, so that it can be said what is gone and since when. There is
-- no reference to apps: the row of the app goes.
CREATE TABLE tombstones (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of removal
    backend      TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    state        INTEGER NOT NULL,
    submitted_at INTEGER, -- as the backend says it: tells the app from a later one of that id
    finished_at  INTEGER,
    gone_at      INTEGER NOT NULL,
    command      TEXT    NOT NULL,
    kept         TEXT, -- JSON: where the logs are that were left
    keep         INTEGER NOT NULL DEFAULT 0, -- the logs are to be left
    owner        TEXT    NOT NULL, -- who is removing it, as apps.submitter; '': it is gone
    app          INTEGER, -- its row in apps while it is being removed
    UNIQUE (id, backend)
);
CREATE INDEX tombstones_owner ON tombstones (owner) WHERE owner <> '';
