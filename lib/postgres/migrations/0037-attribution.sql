-- Usable from 0025
-- What page views with values that are not good are attributed to. The label is a JSON array: cause, device, page, name.
CREATE TABLE rum_attribution (
  site_id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  label TEXT COLLATE "C" NOT NULL,
  count BIGINT NOT NULL,
  PRIMARY KEY (site_id, day, label)
);
