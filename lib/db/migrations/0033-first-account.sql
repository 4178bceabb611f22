-- Has its row once the server has had an account, other than that of the landing page.
CREATE TABLE first_account (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT;
INSERT INTO first_account (id) SELECT 1 WHERE EXISTS (SELECT 1 FROM users WHERE plan <> 'demo');
CREATE TRIGGER users_first AFTER INSERT ON users WHEN NEW.plan <> 'demo' BEGIN
  INSERT OR IGNORE INTO first_account (id) VALUES (1);
END;
