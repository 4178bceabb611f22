-- Usable from 0025
-- As SQLite's file of this number.
ALTER TABLE usage_receivers ADD COLUMN removed_at BIGINT;
