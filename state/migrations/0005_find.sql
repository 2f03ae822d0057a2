-- What apps are found by: labels, indexes, and the words of an app.
ALTER TABLE apps ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE apps ADD COLUMN parent_run_id TEXT NOT NULL DEFAULT '';
ALTER TABLE apps ADD COLUMN duration INTEGER AS (finished_at - started_at); -- nanoseconds
ALTER TABLE apps ADD COLUMN rerun_of TEXT NOT NULL DEFAULT '';

CREATE TABLE tags (
    app   INTEGER NOT NULL REFERENCES apps (seq) ON DELETE CASCADE,
    key   TEXT    NOT NULL,
    value TEXT    NOT NULL,
    PRIMARY KEY (app, key)
) WITHOUT ROWID;
CREATE INDEX tags_key   ON tags (key, app);
CREATE INDEX tags_value ON tags (key, value, app);

CREATE INDEX apps_component ON apps (component, submitted_at);
CREATE INDEX apps_name      ON apps (name, submitted_at);
CREATE INDEX apps_parent    ON apps (parent_run_id, submitted_at) WHERE parent_run_id <> '';
CREATE INDEX apps_started   ON apps (started_at);
CREATE INDEX apps_finished  ON apps (finished_at);
CREATE INDEX apps_duration  ON apps (duration);

-- The words of name, component, arguments, tags and note, without the texts. Triggers keep it, also for programs that
-- do not know of it; what changes a label updates it by itself.
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=full);
CREATE TRIGGER words_insert AFTER INSERT ON app_details BEGIN
    INSERT OR REPLACE INTO words (rowid, text)
    SELECT seq, concat_ws(' ', id, name, component, new.args, note, (SELECT group_concat(key || ' ' || value, ' ') FROM tags WHERE app = seq))
    FROM apps WHERE seq = new.app;
END;
CREATE TRIGGER words_delete AFTER DELETE ON apps BEGIN
    DELETE FROM words WHERE rowid = old.seq;
END;
-- The first search adds the words of older apps, the newest first: up to this one they are missing.
CREATE TABLE words_missing (seq INTEGER NOT NULL);
INSERT INTO words_missing SELECT max(seq) FROM apps HAVING max(seq) IS NOT NULL;
