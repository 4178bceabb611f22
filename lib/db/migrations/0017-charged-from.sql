-- From when the present plan is charged in the present period; a downgrade after much use moves it
-- ahead of the time of the downgrade. 0: not known yet, until the next sync.
ALTER TABLE subscriptions ADD COLUMN charged_from INTEGER NOT NULL DEFAULT 0;
