-- As SQLite's file of this number.
ALTER TABLE usage_by_operation ADD COLUMN look_ups BIGINT NOT NULL DEFAULT 0;
UPDATE usage_by_operation SET look_ups = requests
WHERE status IN (200, 404) AND operation IN ('locateCaller', 'locateAddress', 'getAutonomousSystem');

-- Of days before requests were counted by operation, nothing else is known. Most were such look-ups.
INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests, look_ups)
SELECT day, user_id, key_id, 'locateAddress', 200, requests, requests FROM usage_by_day
WHERE day < (SELECT coalesce(min(day), 1e9) FROM usage_by_operation);
DROP TABLE usage_by_day;
