-- The cap that `warned` is a share of, since a change of plan changes the cap within a period. It is
-- 0 in older rows, whose users get the warning once more.
ALTER TABLE usage_by_period ADD COLUMN warned_cap INTEGER NOT NULL DEFAULT 0;
