-- The sample of each kind of error is stored once a day, not once an hour.
CREATE TABLE rum_error_samples (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  hash TEXT NOT NULL,
  sample TEXT NOT NULL,
  PRIMARY KEY (site_id, day, hash)
) STRICT, WITHOUT ROWID;
INSERT INTO rum_error_samples (site_id, day, hash, sample)
  SELECT site_id, hour / 24, hash, sample FROM rum_errors WHERE true ORDER BY site_id, hour
  ON CONFLICT DO NOTHING;
ALTER TABLE rum_errors DROP COLUMN sample;
