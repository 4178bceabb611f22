-- An export reads sessions in this order, a thousand at a time. The other indexes of users end with the key of their
-- table by themselves.
DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user ON sessions (user_id, id);
