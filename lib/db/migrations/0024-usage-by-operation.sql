-- Requests by UTC day (days since 1970-01-01), key (empty for sessions), operation of the contract and
-- status of the answer. The counts of a deleted key stay. Rows are removed after 92 days. The key begins
-- with the day: the rows that are written each second are then on few pages, and old rows are together.
CREATE TABLE usage_by_operation (
  day INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  status INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (day, user_id, key_id, operation, status)
) STRICT, WITHOUT ROWID;

-- For the user's own view. It has no counts, so adding to a row does not change it.
CREATE INDEX usage_by_operation_of_user ON usage_by_operation (user_id, day);

-- The same by month (its first day), for the lists of operators. `limited`: answers with 429, which are also
-- errors.
CREATE TABLE usage_by_month (
  month INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  requests INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  limited INTEGER NOT NULL,
  PRIMARY KEY (month, user_id, key_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_month_of_user ON usage_by_month (user_id);

-- The same of all users, those who are deleted included.
CREATE TABLE usage_of_all (
  day INTEGER NOT NULL,
  operation TEXT NOT NULL,
  status INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (day, operation, status)
) STRICT, WITHOUT ROWID;

-- As for usage_by_day: what was counted for a user who is deleted meanwhile is dropped.
CREATE TRIGGER usage_by_operation_of_users BEFORE INSERT ON usage_by_operation
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id) BEGIN
  SELECT RAISE(IGNORE);
END;
CREATE TRIGGER usage_by_month_of_users BEFORE INSERT ON usage_by_month
WHEN NOT EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id) BEGIN
  SELECT RAISE(IGNORE);
END;
