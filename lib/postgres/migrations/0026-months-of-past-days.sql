-- Usable from 0025
-- As SQLite's file of this number.
CREATE TABLE summed_usage (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  day BIGINT NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL
);

-- Servers of the last release add each count to both tables. For a week, all do.
INSERT INTO summed_usage
SELECT 1, greatest(max(day), now_ms() / 86400000) + 7, '' FROM usage_by_operation
HAVING count(*) > 0 OR EXISTS (SELECT FROM nodes WHERE died_at IS NULL);

CREATE VIEW usage_of_months AS
SELECT month, user_id, key_id, requests, errors, limited FROM usage_by_month
UNION ALL
SELECT date_trunc('month', date '1970-01-01' + day::int)::date - date '1970-01-01', user_id, key_id, requests,
  CASE WHEN status >= 400 AND status <> 404 THEN requests ELSE 0 END,
  CASE WHEN status = 429 THEN requests ELSE 0 END
FROM usage_by_operation WHERE (day, user_id) > (
  SELECT coalesce(max(day), 0), coalesce(max(user_id), '') FROM summed_usage
);
