-- Usable from 0025
-- What page views are attributed to. The label is a JSON array: cause, device, page and name; empty: all others.
CREATE TABLE rum_attribution (
  site_id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  label TEXT COLLATE "C" NOT NULL,
  views BIGINT NOT NULL,
  slow BIGINT NOT NULL,
  PRIMARY KEY (site_id, day, label)
);
