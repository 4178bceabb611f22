-- The last journal entry that the row includes, so that the rows of a site can be written in different
-- transactions. After a crash between two of them, each row takes only the entries that it lacks.
ALTER TABLE rum_sketches ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rum_days ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rum_paths ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;

-- The same for the errors and counters of a site, which are written together.
CREATE TABLE rum_counted (
  site_id TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
