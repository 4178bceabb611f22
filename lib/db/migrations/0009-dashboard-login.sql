-- Tells in the log where a session was begun: those of the dashboard say so before the name of the
-- browser, which nobody else can.
DROP TRIGGER sessions_login;
CREATE TRIGGER sessions_login AFTER INSERT ON sessions BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT iif(NEW.user_agent LIKE 'dashboard: %', 'dashboard', 'api'), id, email, 'login', NEW.created_at
  FROM users WHERE id = NEW.user_id;
END;
