-- `operator`: the user may run this instance from its pages.
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'operator'));

-- The app that sets a password, for the audit row of that change alone; null: the API.
ALTER TABLE accounts ADD COLUMN set_by TEXT;

DROP TRIGGER accounts_password_added;
CREATE TRIGGER accounts_password_added AFTER INSERT ON accounts WHEN NEW.password IS NOT NULL BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT coalesce(NEW.set_by, 'api'), id, iif(NEW.set_by = 'cli', 'npm run user', email), 'set_password',
    NEW.updated_at
  FROM users WHERE id = NEW.user_id;
  UPDATE accounts SET set_by = NULL WHERE id = NEW.id;
END;
DROP TRIGGER accounts_password_changed;
CREATE TRIGGER accounts_password_changed AFTER UPDATE OF password ON accounts BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT coalesce(NEW.set_by, 'api'), id, iif(NEW.set_by = 'cli', 'npm run user', email), 'set_password',
    NEW.updated_at
  FROM users WHERE id = NEW.user_id;
  UPDATE accounts SET set_by = NULL WHERE id = NEW.id;
END;

-- Once a user is deleted, what names the person may be taken out of the audit rows: the label and the
-- detail, which holds names that the user chose. What was done, when and to which id cannot change.
DROP TRIGGER audit_log_no_update;
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
WHEN NOT (
  NEW.actor_label IS NULL AND NEW.detail IS NULL
  AND NEW.id = OLD.id AND NEW.app = OLD.app AND NEW.actor_id = OLD.actor_id
  AND NEW.action = OLD.action AND NEW.created_at = OLD.created_at
  AND NEW.target_type IS OLD.target_type AND NEW.target_id IS OLD.target_id
  AND NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.actor_id)
) BEGIN
  SELECT RAISE(ABORT, 'audit rows cannot be changed');
END;

-- A server counts requests in memory: what it counted for a user who is deleted meanwhile is dropped.
CREATE TRIGGER usage_by_day_of_users BEFORE INSERT ON usage_by_day
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id) BEGIN
  SELECT RAISE(IGNORE);
END;
CREATE TRIGGER usage_by_period_of_users BEFORE INSERT ON usage_by_period
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id) BEGIN
  SELECT RAISE(IGNORE);
END;
