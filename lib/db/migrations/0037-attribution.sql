-- What page views are attributed to. The label is a JSON array: cause, device, page and name; empty: all others.
CREATE TABLE rum_attribution (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  label TEXT NOT NULL,
  views INTEGER NOT NULL,
  slow INTEGER NOT NULL,
  PRIMARY KEY (site_id, day, label)
) STRICT, WITHOUT ROWID;
