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
