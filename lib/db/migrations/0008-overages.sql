-- Requests over the cap that are charged for, because they came while overages were on; how many of
-- them are in the outbox; and when the last of them were added to it, in epoch milliseconds.
ALTER TABLE usage_by_period ADD COLUMN overage INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_by_period ADD COLUMN overage_reported INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_by_period ADD COLUMN overage_reported_at INTEGER NOT NULL DEFAULT 0;
-- Holds only rows that have something to report.
CREATE INDEX usage_by_period_unreported ON usage_by_period (user_id)
WHERE overage > overage_reported;

-- The customer who pays for the overage of a period. The row outlives our copy of the subscription,
-- which may move to the next period, or be deleted, before the last units of this one are reported.
CREATE TABLE overage_periods (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  period_start INTEGER NOT NULL,
  period_end INTEGER NOT NULL,
  customer_id TEXT NOT NULL,
  subscription_id TEXT NOT NULL,
  PRIMARY KEY (user_id, period_start)
) STRICT, WITHOUT ROWID;

-- Reports to the payment processor: units `from_units` to `to_units` of a period. The processor
-- refuses an identifier that it already has.
CREATE TABLE overage_reports (
  identifier TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  subscription_id TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  period_end INTEGER NOT NULL,
  from_units INTEGER NOT NULL,
  to_units INTEGER NOT NULL CHECK (to_units > from_units),
  -- The time of the usage, as sent to the processor. It decides which invoice has these units.
  at INTEGER NOT NULL,
  first_tried_at INTEGER,
  sent_at INTEGER,
  -- When the processor last refused the report for a reason that a retry cannot solve.
  refused_at INTEGER
) STRICT, WITHOUT ROWID;
-- At most one unsent report per period: no other units of the period can be in doubt.
CREATE UNIQUE INDEX overage_reports_unsent ON overage_reports (user_id, period_start)
WHERE sent_at IS NULL;
CREATE INDEX overage_reports_by_customer ON overage_reports (customer_id, at);
CREATE INDEX overage_reports_by_time ON overage_reports (at);

-- Every write to `subscriptions` gives the period a customer if overages are on, or were on before the
-- write: the processor may report a new period together with the end of overages.
CREATE TRIGGER overages_begun AFTER INSERT ON subscriptions WHEN NEW.overages = 1 BEGIN
  INSERT INTO overage_periods (user_id, period_start, period_end, customer_id, subscription_id)
  SELECT NEW.user_id, NEW.period_start, NEW.period_end, customer_id, NEW.id
  FROM billing_customers WHERE user_id = NEW.user_id
  ON CONFLICT DO UPDATE SET period_end = excluded.period_end,
    customer_id = excluded.customer_id, subscription_id = excluded.subscription_id;
END;
CREATE TRIGGER overages_continued AFTER UPDATE ON subscriptions
WHEN NEW.overages = 1 OR OLD.overages = 1 BEGIN
  INSERT INTO overage_periods (user_id, period_start, period_end, customer_id, subscription_id)
  SELECT NEW.user_id, NEW.period_start, NEW.period_end, customer_id, NEW.id
  FROM billing_customers WHERE user_id = NEW.user_id
  ON CONFLICT DO UPDATE SET period_end = excluded.period_end,
    customer_id = excluded.customer_id, subscription_id = excluded.subscription_id;
END;
