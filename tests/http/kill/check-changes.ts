import assert from 'node:assert/strict'
import Sqlite from 'better-sqlite3'
import type { Change } from './change-load.ts'

/** Keys, sites and inquiries that do not match their entries in the audit log. */
const MISMATCHES = `
  WITH logged AS (
    SELECT target_type AS type, target_id AS id,
      sum(action IN ('create_key', 'create_site', 'send_inquiry')) AS made,
      sum(action IN ('revoke_key', 'delete_site')) AS removed
    FROM audit_log WHERE target_type IN ('api_key', 'site', 'inquiry') GROUP BY 1, 2),
  kept AS (
    SELECT 'api_key' AS type, id FROM api_keys UNION ALL
    SELECT 'site', id FROM sites UNION ALL SELECT 'inquiry', id FROM inquiries)
  SELECT * FROM logged FULL JOIN kept USING (type, id)
  WHERE made IS NOT 1 OR removed > 1 OR (kept.id IS NULL) <> removed`

/** Keys of the free plan end a year after they were made or renewed. */
const WRONG_EXPIRIES = `
  SELECT id FROM api_keys AS key WHERE expires_at <> 365 * 86400000 + (
    SELECT max(created_at) FROM audit_log
    WHERE target_id = key.id AND action IN ('create_key', 'renew_key'))`

/** How often each change happened, according to the database. */
const HAPPENED = `
  SELECT action, detail AS name, count(*) AS times FROM audit_log
  WHERE detail IS NOT NULL GROUP BY 1, 2
  UNION ALL SELECT 'send_inquiry', message, count(*) FROM inquiries GROUP BY 2`

/**
 * Compares a database file with the changes that clients sent. Each acknowledged change must be
 * stored once, each unanswered one at most once, and rows and audit log must agree.
 */
export function checkChanges(path: string, changes: readonly Change[]): void {
  const db = new Sqlite(path, { readonly: true })
  try {
    assert.deepEqual(db.prepare(MISMATCHES).all(), [], 'rows must match the audit log')
    assert.deepEqual(db.prepare(WRONG_EXPIRIES).all(), [], 'expiries must match the audit log')
    const rows = db.prepare<[], { action: string; name: string; times: number }>(HAPPENED).all()
    const times = new Map(rows.map((row) => [`${row.action} ${row.name}`, row.times]))
    for (const { action, name, isAcknowledged } of changes) {
      const found = times.get(`${action} ${name}`) ?? 0
      assert.ok(found === 1 || (found === 0 && !isAcknowledged), `${action} ${name}: ${found}`)
    }
  } finally {
    db.close()
  }
}
