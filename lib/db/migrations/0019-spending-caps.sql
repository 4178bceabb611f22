-- What the payment processor charges for one request over the cap: at most one row, a copy of the price
-- in use. unit_amount is a decimal, in the smallest unit of the currency. Without a row, nothing is
-- charged.
CREATE TABLE overage_prices (
  id TEXT PRIMARY KEY,
  currency TEXT NOT NULL,
  unit_amount TEXT NOT NULL,
  read_at INTEGER NOT NULL
) STRICT;

-- The most that a user wants to pay for requests over the cap in a period, in the smallest unit of the
-- currency. Users without a row have a default.
CREATE TABLE spending_caps (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  currency TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0)
) STRICT;

-- The largest spending cap, in requests, that was announced in the period; 0: none.
ALTER TABLE usage_by_period ADD COLUMN warned_units INTEGER NOT NULL DEFAULT 0;

-- Both change what users may do. Touching their subscriptions records that in access_changes.
CREATE TRIGGER overage_price_added AFTER INSERT ON overage_prices BEGIN
  UPDATE subscriptions SET overages = overages WHERE overages = 1;
END;
CREATE TRIGGER overage_price_changed AFTER UPDATE ON overage_prices
WHEN NEW.unit_amount <> OLD.unit_amount OR NEW.currency <> OLD.currency BEGIN
  UPDATE subscriptions SET overages = overages WHERE overages = 1;
END;
CREATE TRIGGER overage_price_removed AFTER DELETE ON overage_prices BEGIN
  UPDATE subscriptions SET overages = overages WHERE overages = 1;
END;
CREATE TRIGGER spending_cap_added AFTER INSERT ON spending_caps BEGIN
  UPDATE subscriptions SET overages = overages WHERE user_id = NEW.user_id;
END;
CREATE TRIGGER spending_cap_changed AFTER UPDATE ON spending_caps BEGIN
  UPDATE subscriptions SET overages = overages WHERE user_id = NEW.user_id;
END;

-- Messages that a user has reached a limit: mails to the user, and webhooks to the operator. The columns
-- from state on are those of inquiries. The limit is a number of requests, or an amount of the currency.
CREATE TABLE cap_notices (
  id TEXT PRIMARY KEY,
  channel TEXT NOT NULL CHECK (channel IN ('mail', 'webhook')),
  user_id TEXT NOT NULL,
  email TEXT NOT NULL,
  threshold TEXT NOT NULL CHECK (threshold IN ('near_cap', 'reach_cap', 'reach_spending_cap')),
  requests INTEGER NOT NULL,
  amount INTEGER,
  currency TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead', 'kept')),
  created_at INTEGER NOT NULL,
  queued_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  claim TEXT,
  settled_at INTEGER,
  last_error TEXT
) STRICT;
CREATE INDEX cap_notices_by_due ON cap_notices (channel, state, due_at);
