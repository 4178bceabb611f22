-- The price of a change that waits for the customer to confirm its payment, and of the last one in this
-- period that was not confirmed in time; null: none.
ALTER TABLE subscriptions ADD COLUMN pending_price TEXT;
ALTER TABLE subscriptions ADD COLUMN lapsed_price TEXT;

-- Accounts that a command asks the running server to delete, which alone has their latest counts and
-- orders the calls to Stripe. `refusal` says why it could not.
CREATE TABLE account_endings (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  command TEXT NOT NULL,
  refusal TEXT
) STRICT;
