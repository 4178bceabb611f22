-- Links that show the vitals of a site to whoever has them.
CREATE TABLE site_links (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
  -- SHA-256 of the token, hex.
  hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX site_links_by_site ON site_links (site_id, expires_at);
CREATE INDEX site_links_by_user ON site_links (user_id, id);
-- As for keys: a copy of the form that made the link shows it no more.
CREATE TRIGGER site_links_not_shown AFTER DELETE ON site_links BEGIN
  UPDATE kept_answers SET answer = '' WHERE user_id = OLD.user_id AND secret_of = OLD.id;
END;
