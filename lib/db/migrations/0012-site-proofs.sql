-- When the user proved the domain of the site by a DNS record; null: no valid proof. Of the sites with
-- the same name, the one with the newest proof gets the telemetry; without any proof, the oldest site.
ALTER TABLE sites ADD COLUMN proven_at INTEGER;
-- The first check in a row that did not find the record of a proven site.
ALTER TABLE sites ADD COLUMN missing_since INTEGER;
-- The last check that the DNS answered.
ALTER TABLE sites ADD COLUMN checked_at INTEGER;

-- Sorts the sites of a name: newest proof first, then those without a proof.
DROP INDEX sites_by_name;
CREATE INDEX sites_by_name ON sites (name, proven_at DESC);
CREATE INDEX sites_proven ON sites (checked_at) WHERE proven_at IS NOT NULL;
