-- Usable from 0025
-- As SQLite's file of this number.
ALTER TABLE users ADD COLUMN usage_mails TEXT COLLATE "C";
CREATE TRIGGER users_usage_mails_changed AFTER UPDATE OF usage_mails ON users
FOR EACH ROW EXECUTE FUNCTION record_access_change_of_user();

CREATE TABLE usage_receivers (
  id TEXT COLLATE "C" PRIMARY KEY,
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT COLLATE "C" NOT NULL,
  token_hash TEXT COLLATE "C" NOT NULL UNIQUE,
  asked_at BIGINT NOT NULL,
  confirmed_at BIGINT,
  UNIQUE (user_id, email)
);

ALTER TABLE cap_notices ADD COLUMN percent BIGINT;
ALTER TABLE cap_notices ADD COLUMN receiver_id TEXT COLLATE "C";
ALTER TABLE cap_notices ADD COLUMN account TEXT COLLATE "C";
UPDATE cap_notices SET percent = CASE threshold WHEN 'near_cap' THEN 80 ELSE 100 END
WHERE threshold <> 'reach_spending_cap';
CREATE INDEX cap_notices_of_receiver ON cap_notices (receiver_id) WHERE receiver_id IS NOT NULL;

ALTER TABLE usage_by_period DROP CONSTRAINT usage_by_period_warned_check;
ALTER TABLE usage_by_period ADD CONSTRAINT usage_by_period_warned_check
CHECK (warned BETWEEN 0 AND 100);
