-- 1 for the site that was registered first with its name. If no site has a proof, only this one gets
-- the telemetry. After its removal, the others still have to prove the domain.
ALTER TABLE sites ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0;
UPDATE sites SET is_first = 1 WHERE rowid IN (SELECT min(rowid) FROM sites GROUP BY name);
