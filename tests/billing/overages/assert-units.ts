import assert from 'node:assert/strict'
import type { StripeDouble } from '../../../stripe-double/double.ts'
import { readRows, readValue } from '../../support/database/sql.ts'
import type { TestApp } from '../../support/helpers.ts'

const REPORTS = `
  SELECT user_id, customer_id, identifier, to_units - from_units, sent_at FROM overage_reports`
const COUNTED = 'SELECT sum(overage) FROM usage_by_period WHERE user_id = ?'

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/**
 * Asserts for each user that the meter has all units that Stripe has confirmed and none that no report notes,
 * and that the reports note no more than was counted over the cap. Does nothing once the app is closed.
 */
export async function assertUnits(app: TestApp, { world }: StripeDouble): Promise<void> {
  if (app.isClosed()) return
  const { meterEvents } = world.state
  const rows = await readRows(app, REPORTS)
  const reports = rows.map(([user, customer, identifier, units, sentAt]) => ({
    user: String(user),
    customer,
    units: Number(units),
    // After a restored backup, a report may have the identifier of a smaller one.
    sent: sentAt === null ? 0 : (meterEvents.get(String(identifier))?.value ?? Number(units)),
  }))
  for (const [user, own] of Map.groupBy(reports, (report) => report.user)) {
    const customers = new Set(own.map(({ customer }) => customer))
    const events = [...meterEvents.values()].filter(({ customer }) => customers.has(customer))
    const sent = sum(own.map((report) => report.sent))
    const metered = sum(events.map(({ value }) => value))
    const noted = sum(own.map(({ units }) => units))
    const counted = Number(await readValue(app, COUNTED, user))
    const found = JSON.stringify({ user, sent, metered, noted, counted })
    assert.ok(sent <= metered && metered <= noted && noted <= counted, found)
  }
}
