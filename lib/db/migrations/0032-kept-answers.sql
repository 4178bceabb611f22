-- Answers to requests that may arrive twice, for a short time. Whoever inserts the row answers the request; the
-- others wait until `answer` is there.
CREATE TABLE kept_answers (
  -- Keyed hashes of what the copies of a request have in common, and of a second way to recognise them.
  id TEXT PRIMARY KEY,
  alias TEXT,
  -- NULL: no user sent the request.
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  -- Keyed hash of the body.
  body TEXT NOT NULL,
  -- Id of the attempt to answer.
  claim TEXT NOT NULL,
  -- Encrypted. NULL: the request is being answered.
  answer TEXT,
  -- While it is being answered, the end of the lease.
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX kept_answers_by_alias ON kept_answers (alias);
CREATE INDEX kept_answers_by_user ON kept_answers (user_id, expires_at);
CREATE INDEX kept_answers_by_expiry ON kept_answers (expires_at);
