import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

/** Cells of the rows of the table: what, how long, how it is erased earlier. */
const ROWS = read('docs/kept-data.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (What |-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

const BEACONS = 'Web Vitals'
const SUBSCRIPTION = "Stripe's ids of customer"
const REPORTS = 'Reports of requests'

/** How the row begins that tells of each table; null: it holds nothing of a person. */
const TOLD_IN: Readonly<Record<string, string | null>> = {
  access_changes: null,
  account_endings: 'Account',
  account_mails: 'Mails to users',
  accounts: 'Account',
  api_keys: 'API key',
  audit_log: 'Audit log',
  billing_customers: SUBSCRIPTION,
  billing_owner: null,
  buckets: 'API key',
  cap_notices: 'Notices',
  contact_changes: SUBSCRIPTION,
  duplicate_subscriptions: SUBSCRIPTION,
  first_account: null,
  health: null,
  inquiries: 'Inquiries',
  kept_answers: 'Answers',
  known_plans: null,
  overage_periods: SUBSCRIPTION,
  overage_prices: null,
  overage_reports: REPORTS,
  plan_previews: SUBSCRIPTION,
  processor_events: "Ids, types and times of Stripe's events",
  provider_accounts: null,
  recovery_codes: 'Second factor',
  rum_attribution: BEACONS,
  rum_counted: BEACONS,
  rum_counts: BEACONS,
  rum_days: BEACONS,
  rum_error_samples: BEACONS,
  rum_errors: BEACONS,
  rum_hours: BEACONS,
  rum_journal: 'Beacons as they came',
  rum_pages: BEACONS,
  rum_paths: BEACONS,
  rum_sketches: BEACONS,
  second_factors: 'Second factor',
  sessions: 'Session',
  site_links: 'Link to vitals',
  sites: 'Site',
  spending_caps: SUBSCRIPTION,
  spent_challenges: 'Spent proofs of work',
  subscriptions: SUBSCRIPTION,
  summed_usage: null,
  trials: SUBSCRIPTION,
  tried_addresses: 'Keyed hash',
  usage_by_month: 'Requests by month',
  usage_by_operation: 'Requests by day',
  usage_by_period: 'Requests by month',
  usage_of_all: null,
  usage_receivers: 'Addresses of further',
  users: 'Account',
  verifications: 'Links',
  vitals_alerts: 'Wish to be mailed',
}

/** A line of the code that decides a figure, and the figure in the row of the document. */
const FIGURES: readonly (readonly [row: string, figure: string, file: string, line: string])[] = [
  ['Session', '7 days', 'lib/access/find-session.ts', 'SESSION_MS = 7 * DAY_MS'],
  ['Session', 'at most 90', 'lib/access/find-session.ts', 'LONGEST_SESSION_MS = 90 * DAY_MS'],
  ['Links', '1 hour', 'lib/access/sign-in/reset-tokens.ts', 'expiresAt: now + HOUR_MS'],
  ['Links', '1 hour', 'lib/accounts/email-change.ts', 'expiresAt: createdAt + HOUR_MS'],
  ['Link to vitals', '7, 30 or 90 days', 'lib/access/site-links.ts', 'LINK_DAYS = [7, 30, 90]'],
  ['Requests by day', '92 days', 'lib/contract/account/usage-details.ts', 'KEPT_DAYS = 92'],
  [BEACONS, '92 days', 'lib/rum/hour.ts', 'KEPT_DAYS = 92'],
  ['Inquiries that were', '30 days', 'lib/contact/retention.ts', 'DELIVERED_MS = 30 * DAY_MS'],
  ['Mails to users', '1 hour', 'lib/contact/account-mails.ts', 'LINK_MS = HOUR_MS'],
  ['Mails to users', '7 days', 'lib/contact/account-mails.ts', 'RETENTION_MS = 7 * DAY_MS'],
  ['Notices', '30 days', 'lib/contact/cap-notices.ts', 'RETENTION_MS = 30 * DAY_MS'],
  ['Addresses of further', '7 days', 'lib/contact/usage-receivers.ts', 'ASK_MS = 7 * DAY_MS'],
  ['Answers', '15 seconds', 'routes/dashboard/request/answer-once.ts', '15 * SECOND_MS'],
  ['Answers', '10 minutes', 'routes/dashboard/request/answer-once.ts', 'KEPT_MS = 10 * MINUTE_MS'],
  ['Answers', '24 hours', 'routes/request/perform-once.ts', 'KEPT_MS = 24 * HOUR_MS'],
  ['Ids, types', '35 days', 'lib/billing/events/received-events.ts', '35 * DAY_MS'],
  [REPORTS, '70 days', 'lib/billing/overages/overages.ts', 'RETENTION_MS = 70 * DAY_MS'],
  ['Spent proofs', '2 days', 'lib/contact/retention.ts', 'SPENT_MS = 2 * DAY_MS'],
]

function rowOf(start: string): readonly string[] {
  const row = ROWS.find(([, what = '']) => what.startsWith(start))
  assert.ok(row, `The table has no row ${start}`)
  return row
}

describe('docs/kept-data.md', () => {
  it('has a row for each table of the database that holds something of a person', () => {
    const { $client } = openDb(':memory:')
    const sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    const tables = $client.prepare<[], string>(sql).pluck().all()
    $client.close()
    const known = tables.filter((name) => name !== 'migrations').toSorted()
    assert.deepEqual(known, Object.keys(TOLD_IN).toSorted())
    for (const start of Object.values(TOLD_IN)) if (start !== null) rowOf(start)
  })

  it('has the figures of the code', () => {
    for (const [start, figure, file, line] of FIGURES) {
      const [, , period = ''] = rowOf(start)
      assert.ok(period.includes(figure), `${start}: ${figure}`)
      assert.ok(read(file).includes(line), `${file} no longer has ${line}`)
    }
  })

  it('has a figure of the code for each number of the periods', () => {
    for (const [, what = '', period = ''] of ROWS) {
      const figures = FIGURES.filter(([start]) => what.startsWith(start)).map(([, one]) => one)
      const left = figures.reduce((text, one) => text.replaceAll(one, ''), period)
      // A checkpoint, whose interval is no promise.
      if (!left.startsWith('about 10 seconds')) assert.doesNotMatch(left, /\d/, what)
    }
  })
})
