-- What page views with values that are not good are attributed to. The label is a JSON array: cause, device, page, name.
CREATE TABLE rum_attribution (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  label TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (site_id, day, label)
) STRICT, WITHOUT ROWID;
