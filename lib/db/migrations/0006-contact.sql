-- Inquiries, from the moment at which they are accepted. A waiting one may be delivered from due_at
-- on; while a delivery runs, claim names it and due_at is the end of its lease. Kept ones wait for
-- nobody but the operator. settled_at: when it was delivered or given up. user_id is that of who
-- asked with a key; trouble is why the last attempt failed.
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

-- Challenges that were solved and used, until they would have ended anyway: each is good once.
CREATE TABLE spent_challenges (
  signature TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
