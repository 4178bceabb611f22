/** A table whose rows are distributed over the workers, by the hash of a column. */
export interface DistributedTable {
  readonly name: string
  readonly column: string
  /**
   * The table whose rows with the same value are on the same worker; `none`: this table begins a new group.
   */
  readonly colocateWith: string
  /** SQL to run first, which removes triggers and foreign keys that need tables of the coordinator. */
  readonly prepare?: string
}

const dropTrigger = (table: string) => `DROP TRIGGER IF EXISTS ${table}_of_users ON ${table};`

const BY_USER: readonly DistributedTable[] = [
  {
    name: 'usage_by_period',
    column: 'user_id',
    colocateWith: 'none',
    prepare: dropTrigger('usage_by_period'),
  },
  ...['usage_by_operation', 'usage_by_month'].map((name) => ({
    name,
    column: 'user_id',
    colocateWith: 'usage_by_period',
    prepare: dropTrigger(name),
  })),
  {
    name: 'overage_periods',
    column: 'user_id',
    colocateWith: 'usage_by_period',
    prepare: 'ALTER TABLE overage_periods DROP CONSTRAINT IF EXISTS overage_periods_user_id_fkey;',
  },
  {
    name: 'overage_reports',
    column: 'user_id',
    colocateWith: 'usage_by_period',
    prepare: `ALTER TABLE overage_reports DROP CONSTRAINT overage_reports_pkey,
      ADD PRIMARY KEY (user_id, identifier);`,
  },
]

/**
 * Workers cannot number rows, and have no table of users: there, the trigger checks only which columns
 * change. The stores erase these columns only when they delete a user.
 */
const PREPARE_AUDIT = `
ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey, ADD PRIMARY KEY (actor_id, id);
DROP TRIGGER IF EXISTS audit_log_number ON audit_log;
CREATE OR REPLACE FUNCTION check_audit_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.detail IS NULL
    AND NEW.id = OLD.id AND NEW.app = OLD.app AND NEW.actor_id = OLD.actor_id
    AND NEW.action = OLD.action AND NEW.created_at = OLD.created_at
    AND NEW.target_type IS NOT DISTINCT FROM OLD.target_type
    AND NEW.target_id IS NOT DISTINCT FROM OLD.target_id
    AND (NEW.actor_label IS NULL OR NEW.actor_label = OLD.actor_label)
  THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'audit rows cannot be changed';
END $$;`

const AUDIT: DistributedTable = {
  name: 'audit_log',
  column: 'actor_id',
  colocateWith: 'usage_by_period',
  prepare: PREPARE_AUDIT,
}

const JOURNAL: DistributedTable = { name: 'rum_journal', column: 'node', colocateWith: 'none' }

const BY_SITE: readonly DistributedTable[] = [
  'rum_counted',
  ...['rum_hours', 'rum_sketches', 'rum_days', 'rum_paths'],
  ...['rum_errors', 'rum_error_samples', 'rum_counts'],
].map((name, at) => ({ name, column: 'site_id', colocateWith: at === 0 ? 'none' : 'rum_counted' }))

/**
 * The tables that grow with requests and beacons, in the order of their distribution. All others stay on the
 * coordinator: they are small, refer to each other, and have triggers.
 */
export const DISTRIBUTED: readonly DistributedTable[] = [...BY_USER, AUDIT, JOURNAL, ...BY_SITE]
