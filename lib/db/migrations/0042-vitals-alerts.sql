-- Sites whose owners want a mail when a metric turns poor.
CREATE TABLE vitals_alerts (
  site_id TEXT PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  -- The last day that was judged, in days since 1970-01-01.
  day INTEGER NOT NULL,
  -- What was poor when it was last judged, such as mobile-lcp,desktop-cls.
  poor TEXT NOT NULL
) STRICT;
CREATE INDEX vitals_alerts_by_user ON vitals_alerts (user_id, site_id);
-- What a mail without a link is about, as JSON.
ALTER TABLE account_mails ADD COLUMN detail TEXT;
-- Expired links are removed every hour.
CREATE INDEX site_links_by_expiry ON site_links (expires_at);
