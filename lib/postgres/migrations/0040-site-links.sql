-- Usable from 0025
-- As SQLite's file of this number.
CREATE TABLE site_links (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  site_id TEXT COLLATE "C" NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX site_links_by_site ON site_links (site_id, expires_at);
CREATE INDEX site_links_by_user ON site_links (user_id, id);
CREATE TRIGGER site_links_not_shown AFTER DELETE ON site_links
FOR EACH ROW EXECUTE FUNCTION forget_key();
