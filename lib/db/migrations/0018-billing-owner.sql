-- The account at the payment processor that the customers below belong to. `account` is NULL if the
-- key may not read it. It has no row until the account is known to have one of the customers.
CREATE TABLE billing_owner (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  account TEXT,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test'))
) STRICT;

-- Each plan as the settings last had it, in JSON. It stays in effect for its users when it is removed.
CREATE TABLE known_plans (
  id TEXT PRIMARY KEY,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Subscriptions that charge a customer besides the one in `subscriptions`.
CREATE TABLE duplicate_subscriptions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES billing_customers (user_id) ON DELETE CASCADE,
  plan TEXT NOT NULL,
  status TEXT NOT NULL,
  period_end INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX duplicate_subscriptions_by_user ON duplicate_subscriptions (user_id);

-- Changes of a customer's e-mail address and name that the payment processor does not have yet. They
-- are counted, so that a change while an earlier one is being sent is sent as well.
CREATE TABLE contact_changes (
  user_id TEXT PRIMARY KEY REFERENCES billing_customers (user_id) ON DELETE CASCADE,
  emails INTEGER NOT NULL,
  names INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER contact_changed AFTER UPDATE OF email, name ON users
WHEN NEW.email IS NOT OLD.email OR NEW.name IS NOT OLD.name BEGIN
  INSERT INTO contact_changes (user_id, emails, names)
  SELECT user_id, NEW.email IS NOT OLD.email, NEW.name IS NOT OLD.name
  FROM billing_customers WHERE user_id = NEW.id
  ON CONFLICT (user_id) DO UPDATE SET emails = emails + excluded.emails, names = names + excluded.names;
END;
