-- The cap that `warned` is a share of: where the plan changes within a period, another one holds. It
-- is not known of rows from before, whose users are told once more.
ALTER TABLE usage_by_period ADD COLUMN warned_cap INTEGER NOT NULL DEFAULT 0;
