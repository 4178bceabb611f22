-- A removed receiver is kept for a week, so that the same user cannot ask the address again at once.
ALTER TABLE usage_receivers ADD COLUMN removed_at INTEGER;
