-- The bucket of all keys of a user: `spent` requests at `spent_at`, as in `buckets`. It is in this
-- table because every counted request writes its row anyway.
ALTER TABLE usage_by_period ADD COLUMN spent REAL NOT NULL DEFAULT 0;
ALTER TABLE usage_by_period ADD COLUMN spent_at INTEGER NOT NULL DEFAULT 0;
