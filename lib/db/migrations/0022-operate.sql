-- When an operator disabled the account: nobody can sign in to it, and its keys are refused.
ALTER TABLE users ADD COLUMN disabled_at INTEGER;
CREATE TRIGGER users_disabled_changed AFTER UPDATE OF disabled_at ON users BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;

-- For the lists of operators.
CREATE INDEX users_disabled ON users (email) WHERE disabled_at IS NOT NULL;
CREATE INDEX users_operators ON users (email) WHERE role = 'operator';
CREATE INDEX audit_log_about ON audit_log (target_id, id) WHERE target_type = 'user';
CREATE INDEX audit_log_of_action ON audit_log (action, id);
CREATE INDEX audit_log_by_time ON audit_log (created_at, id);
CREATE INDEX sites_in_order ON sites (name, id);

-- Once a user is deleted, what names the person may also be taken out of the rows of operators who
-- changed the account: their detail.
DROP TRIGGER audit_log_no_update;
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
WHEN NOT (
  NEW.detail IS NULL
  AND NEW.id = OLD.id AND NEW.app = OLD.app AND NEW.actor_id = OLD.actor_id
  AND NEW.action = OLD.action AND NEW.created_at = OLD.created_at
  AND NEW.target_type IS OLD.target_type AND NEW.target_id IS OLD.target_id
  AND (
    (NEW.actor_label IS NULL AND NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.actor_id))
    OR (
      NEW.actor_label IS OLD.actor_label AND OLD.target_type IS 'user'
      AND NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.target_id)
    )
  )
) BEGIN
  SELECT RAISE(ABORT, 'audit rows cannot be changed');
END;
