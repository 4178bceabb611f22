-- How many look-ups of the requests count towards the cap: each address of a batch is one. This replaces
-- usage_by_day, for which each active caller wrote one more row a second.
ALTER TABLE usage_by_operation ADD COLUMN look_ups INTEGER NOT NULL DEFAULT 0;
UPDATE usage_by_operation SET look_ups = requests
WHERE status IN (200, 404) AND operation IN ('locateCaller', 'locateAddress', 'getAutonomousSystem');

-- Of days before requests were counted by operation, nothing else is known. Most were such look-ups.
INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests, look_ups)
SELECT day, user_id, key_id, 'locateAddress', 200, requests, requests FROM usage_by_day
WHERE day < (SELECT coalesce(min(day), 1e9) FROM usage_by_operation);
DROP TABLE usage_by_day;
