-- From when each step between plans is charged in the present period; a downgrade after much use moves
-- it ahead of the time of the downgrade. Text, as Stripe keeps it in the metadata of the subscription.
ALTER TABLE subscriptions ADD COLUMN charged_from TEXT NOT NULL DEFAULT '';
-- How many requests that were used before the period of requests that ends at carried_until, in epoch
-- milliseconds, count in it.
ALTER TABLE subscriptions ADD COLUMN carried_requests INTEGER CHECK (carried_requests >= 0);
ALTER TABLE subscriptions ADD COLUMN carried_until INTEGER
  CHECK ((carried_until IS NULL) = (carried_requests IS NULL));
-- How often the subscription is paid; the price and the currency of its plan (null: not read since this
-- migration); and when its trial ends (null: it is not in a trial).
ALTER TABLE subscriptions ADD COLUMN interval TEXT NOT NULL DEFAULT 'month'
  CHECK (interval IN ('month', 'year'));
ALTER TABLE subscriptions ADD COLUMN price_id TEXT;
ALTER TABLE subscriptions ADD COLUMN currency TEXT;
ALTER TABLE subscriptions ADD COLUMN trial_end INTEGER;
ALTER TABLE plan_previews ADD COLUMN interval TEXT NOT NULL DEFAULT 'month'
  CHECK (interval IN ('month', 'year'));

-- Users who have had a trial. The row outlives the subscription, so that nobody gets a second one.
CREATE TABLE trials (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL
) STRICT;
