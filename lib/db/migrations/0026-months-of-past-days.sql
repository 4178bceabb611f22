-- Counts are added to usage_by_month once their day is over: before, each active caller wrote a second row a
-- second. The counts of usage_by_operation up to this day and user, in the order of its key, are in usage_by_month
-- as well. Without a row, none are. Later counts of these days are added to both.
CREATE TABLE summed_usage (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  day INTEGER NOT NULL,
  user_id TEXT NOT NULL
) STRICT;

-- Until now, each count was added to both.
INSERT INTO summed_usage
SELECT 1, max(day) + 1, '' FROM usage_by_operation HAVING count(*) > 0;

-- All counts by month. A key may have several rows.
CREATE VIEW usage_of_months AS
SELECT month, user_id, key_id, requests, errors, limited FROM usage_by_month
UNION ALL
SELECT unixepoch(day * 86400, 'unixepoch', 'start of month') / 86400, user_id, key_id, requests,
  iif(status >= 400 AND status <> 404, requests, 0), iif(status = 429, requests, 0)
FROM usage_by_operation WHERE (day, user_id) > (
  SELECT coalesce(max(day), 0), coalesce(max(user_id), '') FROM summed_usage
);
