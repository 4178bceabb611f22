-- Accepted inquiries. A waiting inquiry may be delivered from due_at on. During an attempt, claim is
-- the id of the attempt, and due_at is the end of its lease. The operator reads kept inquiries; they
-- are never delivered. settled_at is the time of delivery or of giving up. user_id is null without a
-- key. trouble is the reason why the last attempt failed.
CREATE TABLE inquiries (
  id TEXT PRIMARY KEY,
  user_id TEXT,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  company TEXT,
  message TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead', 'kept')),
  created_at INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  claim TEXT,
  settled_at INTEGER,
  trouble TEXT
) STRICT;

CREATE INDEX inquiries_by_due ON inquiries (state, due_at);

-- Used challenges, until they expire: each is accepted only once.
CREATE TABLE spent_challenges (
  signature TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
