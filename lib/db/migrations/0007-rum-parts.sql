-- The last entry of the journal that is in the row: so the rows of a site can be written one by one,
-- each in any transaction. After a crash between two of them, a row takes only the entries after it.
ALTER TABLE rum_sketches ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rum_days ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rum_paths ADD COLUMN last_id INTEGER NOT NULL DEFAULT 0;

-- The same for the errors and counters of a site, which are written together.
CREATE TABLE rum_counted (
  site_id TEXT PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
