-- The reason why the last attempt to deliver an inquiry failed.
ALTER TABLE inquiries RENAME COLUMN trouble TO last_error;
