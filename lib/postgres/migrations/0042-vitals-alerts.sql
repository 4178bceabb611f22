-- Usable from 0025
-- As SQLite's file of this number.
CREATE TABLE vitals_alerts (
  site_id TEXT COLLATE "C" PRIMARY KEY REFERENCES sites (id) ON DELETE CASCADE,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  day BIGINT NOT NULL,
  poor TEXT COLLATE "C" NOT NULL
);
CREATE INDEX vitals_alerts_by_user ON vitals_alerts (user_id, site_id);
ALTER TABLE account_mails ADD COLUMN detail TEXT COLLATE "C";
-- Expired links are removed every hour.
CREATE INDEX site_links_by_expiry ON site_links (expires_at);
