-- Usable from 0025
-- As SQLite's file of this number.
CREATE TABLE kept_answers (
  id TEXT COLLATE "C" PRIMARY KEY,
  alias TEXT COLLATE "C",
  user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
  body TEXT COLLATE "C" NOT NULL,
  claim TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C",
  expires_at BIGINT NOT NULL
);
CREATE INDEX kept_answers_by_alias ON kept_answers (alias);
CREATE INDEX kept_answers_by_user ON kept_answers (user_id, expires_at);
CREATE INDEX kept_answers_by_expiry ON kept_answers (expires_at);
