-- What the new secret in the answer belongs to: the id of a key, or 'recovery codes'. NULL: there is none. Once the
-- secret no longer works, it is not shown again. Copies of a request for a key must not make another one, so they stay
-- known by an empty answer; those for recovery codes have a code of the app that is spent.
ALTER TABLE kept_answers ADD COLUMN secret_of TEXT;
CREATE TRIGGER api_keys_not_shown AFTER DELETE ON api_keys BEGIN
  UPDATE kept_answers SET answer = '' WHERE user_id = OLD.user_id AND secret_of = OLD.id;
END;
CREATE TRIGGER recovery_codes_not_shown AFTER DELETE ON recovery_codes BEGIN
  DELETE FROM kept_answers WHERE user_id = OLD.user_id AND secret_of = 'recovery codes';
END;
