-- Mails to users about their accounts. The columns from state on are those of inquiries. A mail that is delivered
-- or given up is removed.
CREATE TABLE account_mails (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  email TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- What the link contains, encrypted; and when it expires. NULL: there is no link.
  link TEXT,
  expires_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead', 'kept')),
  created_at INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  claim TEXT,
  settled_at INTEGER,
  last_error TEXT
) STRICT;
CREATE INDEX account_mails_by_due ON account_mails (state, due_at);
CREATE INDEX account_mails_by_email ON account_mails (email);
CREATE INDEX account_mails_by_user ON account_mails (user_id);
