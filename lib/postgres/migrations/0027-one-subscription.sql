-- As SQLite's file of this number.
DROP TABLE duplicate_subscriptions;
