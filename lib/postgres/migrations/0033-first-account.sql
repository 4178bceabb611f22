-- Usable from 0025
-- Has its row once the server has had an account, other than that of the landing page.
CREATE TABLE first_account (id bigint PRIMARY KEY CHECK (id = 1));
INSERT INTO first_account (id) SELECT 1 WHERE EXISTS (SELECT 1 FROM users WHERE plan <> 'demo');
CREATE FUNCTION note_first_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO first_account (id) VALUES (1) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER users_first AFTER INSERT ON users
FOR EACH ROW WHEN (NEW.plan <> 'demo') EXECUTE FUNCTION note_first_account();
