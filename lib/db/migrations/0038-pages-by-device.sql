-- The totals of a page and a day, by kind of device. What was counted before stays in rum_paths, whose last_id goes
-- on saying which entries of the journal it includes. It is empty once its rows are too old to be kept.
CREATE TABLE rum_pages (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  path TEXT NOT NULL,
  device TEXT NOT NULL,
  samples INTEGER NOT NULL,
  sketches BLOB NOT NULL,
  last_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (site_id, day, path, device)
) STRICT, WITHOUT ROWID;
