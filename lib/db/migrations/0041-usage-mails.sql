-- At which shares of the monthly cap, in per cent, mails are sent: a JSON array. NULL: the default.
ALTER TABLE users ADD COLUMN usage_mails TEXT;
CREATE TRIGGER users_usage_mails_changed AFTER UPDATE OF usage_mails ON users BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;

-- Further addresses that a user wants these mails to go to. They get none until they have confirmed.
CREATE TABLE usage_receivers (
  -- Also in the link by which the receiver stops the mails.
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- SHA-256 of the token in the link by which the receiver confirms.
  token_hash TEXT NOT NULL UNIQUE,
  asked_at INTEGER NOT NULL,
  confirmed_at INTEGER,
  UNIQUE (user_id, email)
) STRICT;

-- The share of the cap; NULL for the spending cap. The further receiver, and the address of the user whom
-- the mail is about; NULL: it goes to the user.
ALTER TABLE cap_notices ADD COLUMN percent INTEGER;
ALTER TABLE cap_notices ADD COLUMN receiver_id TEXT;
ALTER TABLE cap_notices ADD COLUMN account TEXT;
UPDATE cap_notices SET percent = CASE threshold WHEN 'near_cap' THEN 80 ELSE 100 END
WHERE threshold <> 'reach_spending_cap';
CREATE INDEX cap_notices_of_receiver ON cap_notices (receiver_id) WHERE receiver_id IS NOT NULL;

-- `warned` may now be any share.
CREATE TABLE new_usage_by_period (
  user_id TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  warned INTEGER NOT NULL DEFAULT 0 CHECK (warned BETWEEN 0 AND 100),
  overage INTEGER NOT NULL DEFAULT 0,
  overage_reported INTEGER NOT NULL DEFAULT 0,
  overage_reported_at INTEGER NOT NULL DEFAULT 0,
  warned_cap INTEGER NOT NULL DEFAULT 0,
  spent REAL NOT NULL DEFAULT 0,
  spent_at INTEGER NOT NULL DEFAULT 0,
  warned_units INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, period_start)
) STRICT, WITHOUT ROWID;
INSERT INTO new_usage_by_period SELECT user_id, period_start, requests, warned, overage,
  overage_reported, overage_reported_at, warned_cap, spent, spent_at, warned_units
FROM usage_by_period;
DROP TABLE usage_by_period;
ALTER TABLE new_usage_by_period RENAME TO usage_by_period;
CREATE INDEX usage_by_period_unreported ON usage_by_period (user_id)
WHERE overage > overage_reported;
CREATE TRIGGER usage_by_period_of_users BEFORE INSERT ON usage_by_period
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id) BEGIN
  SELECT RAISE(IGNORE);
END;
