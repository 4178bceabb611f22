-- Usable from 0025
-- As SQLite's file of this number. Servers of the previous release go on writing rum_paths.
CREATE TABLE rum_pages (
  site_id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  path TEXT COLLATE "C" NOT NULL,
  device TEXT COLLATE "C" NOT NULL,
  samples BIGINT NOT NULL,
  sketches BYTEA NOT NULL,
  PRIMARY KEY (site_id, day, path, device)
) WITH (fillfactor = 70, toast_tuple_target = 8160);
ALTER TABLE rum_pages ALTER COLUMN sketches SET STORAGE EXTERNAL;
