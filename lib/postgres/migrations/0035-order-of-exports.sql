-- Usable from 0025
-- As SQLite's file of this number, whose indexes end with the key of their table by themselves.
DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user ON sessions (user_id, id);
DROP INDEX api_keys_by_user;
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at, rowid);
DROP INDEX usage_by_operation_of_user;
CREATE INDEX usage_by_operation_of_user ON usage_by_operation (user_id, day, key_id, operation, status);
DROP INDEX usage_by_month_of_user;
CREATE INDEX usage_by_month_of_user ON usage_by_month (user_id, month, key_id);
