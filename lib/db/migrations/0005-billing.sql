-- Users who are customers at the payment processor. `revision` counts the syncs with the processor,
-- so that a sync drops the processor's answer if another sync has finished in the meantime.
CREATE TABLE billing_customers (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  customer_id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

-- The subscription that counts for a user, as the payment processor last reported it. While it gives
-- access, its plan replaces the plan of the user.
CREATE TABLE subscriptions (
  user_id TEXT PRIMARY KEY REFERENCES billing_customers (user_id) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,
  item_id TEXT NOT NULL,
  plan TEXT NOT NULL,
  status TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  period_end INTEGER NOT NULL,
  -- When it is to end; null: it goes on.
  cancel_at INTEGER,
  -- Whether requests over the cap are answered in full, for a fee.
  overages INTEGER NOT NULL CHECK (overages IN (0, 1)),
  -- The item that charges for them; it stays when overages are turned off.
  overage_item_id TEXT
) STRICT;

-- The last preview of a plan change. The change uses the same proration time, so it costs the same.
CREATE TABLE plan_previews (
  user_id TEXT PRIMARY KEY REFERENCES billing_customers (user_id) ON DELETE CASCADE,
  plan TEXT NOT NULL,
  proration_at INTEGER NOT NULL
) STRICT;

-- Events of the payment processor that have had their effect.
CREATE TABLE processor_events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX processor_events_by_time ON processor_events (received_at);

CREATE TRIGGER subscriptions_added AFTER INSERT ON subscriptions BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER subscriptions_removed AFTER DELETE ON subscriptions BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (OLD.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER subscriptions_changed
AFTER UPDATE OF plan, status, period_start, period_end, overages ON subscriptions BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
