-- The pod of an attempt and its node, "" if it has none.
ALTER TABLE attempts ADD COLUMN pod  TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN node TEXT NOT NULL DEFAULT '';
