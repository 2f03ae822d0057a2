-- The metrics of apps: one row for each series. main marks the series of a name that represents the app. NULL is NaN, or
-- no finite value.
CREATE TABLE metrics (
    app        INTEGER NOT NULL REFERENCES apps (seq) ON DELETE CASCADE,
    key        TEXT    NOT NULL, -- the name
    role       TEXT    NOT NULL,
    replica    INTEGER NOT NULL,
    main       INTEGER NOT NULL,
    source     TEXT    NOT NULL,
    count      INTEGER NOT NULL,
    non_finite INTEGER NOT NULL,
    first      REAL,
    last       REAL,
    min        REAL,
    max        REAL,
    last_step  INTEGER,
    PRIMARY KEY (app, key, role, replica)
) WITHOUT ROWID;
CREATE INDEX metrics_last ON metrics (key, last, app DESC) WHERE main;
CREATE INDEX metrics_min  ON metrics (key, min, app DESC)  WHERE main;
CREATE INDEX metrics_max  ON metrics (key, max, app DESC)  WHERE main;
