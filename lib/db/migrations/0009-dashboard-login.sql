-- Records in the audit log where a session began. The dashboard writes `dashboard: ` before the name
-- of the browser; the server removes this prefix from all other requests.
DROP TRIGGER sessions_login;
CREATE TRIGGER sessions_login AFTER INSERT ON sessions BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT iif(NEW.user_agent LIKE 'dashboard: %', 'dashboard', 'api'), id, email, 'login', NEW.created_at
  FROM users WHERE id = NEW.user_id;
END;
