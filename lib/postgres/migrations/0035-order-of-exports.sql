-- Usable from 0025
-- As SQLite's file of this number, whose indexes end with the key of their table by themselves.
-- The old indexes go last: their tables cannot be read from then on until the end of the transaction.
CREATE INDEX sessions_in_order ON sessions (user_id, id);
CREATE INDEX api_keys_in_order ON api_keys (user_id, created_at, rowid);
CREATE INDEX usage_by_operation_in_order ON usage_by_operation (user_id, day, key_id, operation, status);
CREATE INDEX usage_by_month_in_order ON usage_by_month (user_id, month, key_id);
DROP INDEX sessions_by_user, api_keys_by_user, usage_by_operation_of_user, usage_by_month_of_user;
ALTER INDEX sessions_in_order RENAME TO sessions_by_user;
ALTER INDEX api_keys_in_order RENAME TO api_keys_by_user;
ALTER INDEX usage_by_operation_in_order RENAME TO usage_by_operation_of_user;
ALTER INDEX usage_by_month_in_order RENAME TO usage_by_month_of_user;
