-- Accepted beacons that are not in the tables below yet. A checkpoint writes what they change, and
-- deletes them. Ids ascend within a site. country is empty if unknown; beacon is JSON.
CREATE TABLE rum_journal (
  site_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  country TEXT NOT NULL,
  beacon TEXT NOT NULL,
  PRIMARY KEY (site_id, id)
) STRICT, WITHOUT ROWID;

-- The rows of summaries: one for each hour (since 1970-01-01, UTC), country and device. Country and
-- device are empty if unknown. `samples` counts beacons with at least one metric.
CREATE TABLE rum_hours (
  site_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  country TEXT NOT NULL,
  device TEXT NOT NULL,
  samples INTEGER NOT NULL,
  lcp_p50 REAL,
  lcp_p75 REAL,
  lcp_p95 REAL,
  inp_p50 REAL,
  inp_p75 REAL,
  inp_p95 REAL,
  cls_p50 REAL,
  cls_p75 REAL,
  cls_p95 REAL,
  ttfb_p50 REAL,
  ttfb_p75 REAL,
  ttfb_p95 REAL,
  fid_p50 REAL,
  fid_p75 REAL,
  fid_p95 REAL,
  PRIMARY KEY (site_id, hour, country, device)
) STRICT, WITHOUT ROWID;

-- The source of the rows of rum_hours and of overviews, which merge several rows: a sketch of each
-- metric, with the numbers of values that are good, need improvement and are poor.
CREATE TABLE rum_sketches (
  site_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  country TEXT NOT NULL,
  device TEXT NOT NULL,
  samples INTEGER NOT NULL,
  sketches BLOB NOT NULL,
  PRIMARY KEY (site_id, hour, country, device)
) STRICT, WITHOUT ROWID;

-- The same by day (since 1970-01-01, UTC), so that long periods are merged from few rows.
CREATE TABLE rum_days (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  country TEXT NOT NULL,
  device TEXT NOT NULL,
  samples INTEGER NOT NULL,
  sketches BLOB NOT NULL,
  PRIMARY KEY (site_id, day, country, device)
) STRICT, WITHOUT ROWID;

-- Pages by day, at most 500 per site and day; all others share one row.
CREATE TABLE rum_paths (
  site_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  path TEXT NOT NULL,
  samples INTEGER NOT NULL,
  sketches BLOB NOT NULL,
  PRIMARY KEY (site_id, day, path)
) STRICT, WITHOUT ROWID;

-- Errors by hour. Similar errors share a row. At most 200 rows per site and hour; all other errors
-- share one. `sample` is the first error of the hour, as JSON.
CREATE TABLE rum_errors (
  site_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  hash TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  sample TEXT NOT NULL,
  PRIMARY KEY (site_id, hour, hash)
) STRICT, WITHOUT ROWID;

-- Counters with few labels: kinds of connections, beacons that were accepted, and why beacons or
-- values were dropped.
CREATE TABLE rum_counts (
  site_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (site_id, hour, kind, label)
) STRICT, WITHOUT ROWID;
