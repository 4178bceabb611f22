-- Usable from 0025
-- What operators see first: who has joined, and what subscriptions are worth.
CREATE INDEX users_by_time ON users (created_at, plan);
CREATE INDEX subscriptions_by_price ON subscriptions (status, interval, price_id, currency);
