-- The host name of the origin: its text without the scheme and the port.
ALTER TABLE sites ADD COLUMN host TEXT NOT NULL DEFAULT '';
UPDATE sites SET host = substr(name, instr(name, '//') + 2);
UPDATE sites SET host = rtrim(rtrim(host, '0123456789'), ':') WHERE rtrim(host, '0123456789') LIKE '%:';

-- The proof of a site covers all sites of its user with that host. It ends what others were given there
-- as the first to register.
UPDATE sites SET is_first = 0 WHERE EXISTS (
  SELECT 1 FROM sites AS proof
  WHERE proof.host = sites.host AND proof.proven_at IS NOT NULL AND proof.user_id <> sites.user_id
);

DROP INDEX sites_by_name;
CREATE INDEX sites_by_name ON sites (name, is_first);
CREATE INDEX sites_by_host ON sites (host, proven_at);
