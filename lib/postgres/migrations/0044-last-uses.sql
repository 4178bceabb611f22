-- Usable from 0025
-- As SQLite's file of this number.
ALTER TABLE usage_by_operation ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0;
