-- What a user's export and the end of an account read.
CREATE INDEX inquiries_of_user ON inquiries (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX cap_notices_of_user ON cap_notices (user_id, id);
-- What is removed after a month.
CREATE INDEX cap_notices_by_time ON cap_notices (created_at);
CREATE INDEX overage_reports_of_user ON overage_reports (user_id, identifier);
-- The links of an account that changes or ends.
CREATE INDEX verifications_by_value ON verifications (value);
