-- Usable from 0025
-- As SQLite's file of this number.
ALTER TABLE kept_answers ADD COLUMN secret_of TEXT COLLATE "C";
CREATE FUNCTION forget_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE kept_answers SET answer = '' WHERE user_id = OLD.user_id AND secret_of = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_not_shown AFTER DELETE ON api_keys
FOR EACH ROW EXECUTE FUNCTION forget_key();
CREATE FUNCTION forget_recovery_codes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM kept_answers WHERE user_id = OLD.user_id AND secret_of = 'recovery codes';
  RETURN NULL;
END $$;
CREATE TRIGGER recovery_codes_not_shown AFTER DELETE ON recovery_codes
FOR EACH ROW EXECUTE FUNCTION forget_recovery_codes();
