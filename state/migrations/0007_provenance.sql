-- Where apps came from: who submitted them with which versions, and from which git checkout.
ALTER TABLE app_details ADD COLUMN submission TEXT; -- JSON of history.Submission

CREATE TABLE checkouts (
    app      INTEGER PRIMARY KEY REFERENCES apps (seq) ON DELETE CASCADE,
    checkout TEXT NOT NULL, -- JSON of history.Checkout
    diff     TEXT REFERENCES diffs (sum)
);
CREATE INDEX checkouts_diff ON checkouts (diff) WHERE diff IS NOT NULL;

-- Many apps are submitted from one state of a checkout: they share its diff.
CREATE TABLE diffs (
    sum  TEXT PRIMARY KEY, -- SHA-256 of the text, in hexadecimal
    data BLOB NOT NULL     -- the text, by gzip
) WITHOUT ROWID;
CREATE TRIGGER diffs_delete AFTER DELETE ON checkouts WHEN old.diff IS NOT NULL BEGIN
    DELETE FROM diffs WHERE sum = old.diff AND NOT EXISTS (SELECT 1 FROM checkouts WHERE diff = old.diff);
END;
