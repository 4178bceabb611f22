-- The last use of the key when the counts were written. It changes with every request, and a row of api_keys is long:
-- it gets the last use once the day is over.
ALTER TABLE usage_by_operation ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
