-- What the new secret in the answer belongs to: the id of a key, or 'recovery codes'. NULL: there is none. Once the
-- secret no longer works, the answer is empty: copies of the request are still known as such.
ALTER TABLE kept_answers ADD COLUMN secret_of TEXT;
CREATE TRIGGER api_keys_not_shown AFTER DELETE ON api_keys BEGIN
  UPDATE kept_answers SET answer = '' WHERE user_id = OLD.user_id AND secret_of = OLD.id;
END;
CREATE TRIGGER recovery_codes_not_shown AFTER DELETE ON recovery_codes BEGIN
  UPDATE kept_answers SET answer = '' WHERE user_id = OLD.user_id AND secret_of = 'recovery codes';
END;
