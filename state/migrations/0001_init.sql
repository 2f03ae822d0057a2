-- Apps: what a list shows. The columns are small, so that a scan never follows
-- overflow pages; the long texts of an app are in app_details.
-- Times are unix nanoseconds, states the numbers of spec.State.
CREATE TABLE apps (
    seq              INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of submission, whatever the clock did
    backend          TEXT    NOT NULL,
    id               TEXT    NOT NULL,
    name             TEXT    NOT NULL,
    component        TEXT    NOT NULL,
    state            INTEGER NOT NULL,
    exit_code        INTEGER,
    num_restarts     INTEGER NOT NULL DEFAULT 0,
    submitted_at     INTEGER NOT NULL,
    started_at       INTEGER,
    finished_at      INTEGER,
    submitter        TEXT    NOT NULL DEFAULT '',
    msg              TEXT    NOT NULL DEFAULT '',
    ui_url           TEXT,
    first_role       TEXT,    -- the replica that failed first for good
    first_replica    INTEGER,
    structured_error TEXT,
    UNIQUE (id, backend) -- id first: it serves the search by prefix
);
CREATE INDEX apps_newest  ON apps (submitted_at);
CREATE INDEX apps_backend ON apps (backend, submitted_at);
CREATE INDEX apps_state   ON apps (state, submitted_at);

CREATE TABLE app_details (
    app     INTEGER PRIMARY KEY REFERENCES apps (seq) ON DELETE CASCADE,
    args    TEXT,
    cwd     TEXT NOT NULL DEFAULT '',
    def     TEXT,
    cfg     TEXT,
    request TEXT,
    modules TEXT,
    getenv  TEXT
);

CREATE TABLE attempts (
    app              INTEGER NOT NULL REFERENCES apps (seq) ON DELETE CASCADE,
    role             TEXT    NOT NULL,
    replica          INTEGER NOT NULL,
    attempt          INTEGER NOT NULL,
    state            INTEGER NOT NULL,
    exit_code        INTEGER,
    signal           TEXT    NOT NULL DEFAULT '',
    hostname         TEXT    NOT NULL DEFAULT '',
    pid              INTEGER NOT NULL DEFAULT 0,
    started_at       INTEGER,
    finished_at      INTEGER,
    msg              TEXT    NOT NULL DEFAULT '',
    structured_error TEXT,
    PRIMARY KEY (app, role, replica, attempt)
) WITHOUT ROWID;

CREATE TABLE events (
    seq       INTEGER PRIMARY KEY,
    app       INTEGER NOT NULL REFERENCES apps (seq) ON DELETE CASCADE,
    time      INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    state     INTEGER NOT NULL,
    role      TEXT    NOT NULL DEFAULT '',
    replica   INTEGER NOT NULL DEFAULT 0,
    attempt   INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER,
    signal    TEXT    NOT NULL DEFAULT '',
    msg       TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX events_app ON events (app, seq);

CREATE TABLE checkpoints (
    app     INTEGER NOT NULL REFERENCES apps (seq) ON DELETE CASCADE,
    role    TEXT    NOT NULL,
    replica INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    stream  TEXT    NOT NULL,
    offset  INTEGER NOT NULL, -- bytes before this point
    line    INTEGER NOT NULL, -- whole lines before this point
    time    INTEGER NOT NULL, -- when that byte arrived
    PRIMARY KEY (app, role, replica, attempt, stream, offset)
) WITHOUT ROWID;

-- No reference to apps: the log of an app that is not in this history can be
-- read on, too.
CREATE TABLE positions (
    backend    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    reader     TEXT    NOT NULL,
    position   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (backend, id, reader)
) WITHOUT ROWID;
