import { type AuditOfAllQuery, readAuditOfAll } from '../../accounts/audit-of-all.ts'
import { type PeopleQuery, readPeople } from '../../accounts/people.ts'
import { listInvoicesOfAll } from '../../billing/account/account.ts'
import { planInEffect } from '../../config/entitlement.ts'
import { decimalPlaces } from '../../config/money.ts'
import { type BillingPeriod, dateOfDay } from '../../config/period.ts'
import { readUsersOfMonth } from '../../usage/usage-of-all.ts'
import type { Services } from '../services.ts'
import type { CsvRow } from './csv-file.ts'

/** How many rows are read at once, and held in memory. */
const PAGE_ROWS = 1_000
/** A page of these also reads what the sums of the month lack, so fewer pages are faster. */
const USAGE_ROWS = 5_000

/** A list for operators as CSV. */
export interface ListExport {
  readonly columns: readonly string[]
  readonly pages: AsyncIterable<readonly CsvRow[]>
}

/** Reads page after page, each from the last row of the page before, until one is empty. */
async function* readAll<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  toRow: (row: Row) => CsvRow,
) {
  for (let last: Row | undefined; ; ) {
    const rows = await read(last)
    if (rows.length === 0) return
    yield rows.map(toRow)
    last = rows.at(-1)
  }
}

type Sources = Pick<Services, 'storage' | 'plans' | 'billing'>

/** The people whom the filter finds, in the order of their addresses. */
export function exportPeople(
  { storage, plans }: Sources,
  filter: Pick<PeopleQuery, 'search' | 'plan' | 'status'>,
): ListExport {
  return {
    columns:
      'id,email,name,plan,assignedPlan,subscription,role,emailVerified,createdAt,disabledAt'.split(
        ',',
      ),
    pages: readAll(
      (last: Awaited<ReturnType<typeof readPeople>>[number] | undefined) =>
        readPeople(storage.longReads, { ...filter, after: last?.email ?? '', limit: PAGE_ROWS }),
      ({ subscribed, disabledAt, createdAt, name, ...person }) => ({
        ...person,
        name: name ?? undefined,
        plan: planInEffect({ assignedPlan: person.assignedPlan, subscribed }, plans).id,
        subscribed: undefined,
        subscription: subscribed?.status,
        createdAt: isoTime(createdAt),
        disabledAt: disabledAt === null ? undefined : isoTime(disabledAt),
      }),
    ),
  }
}

/** The audit rows that the filter finds, newest first. */
export function exportAudit(
  { storage }: Sources,
  filter: Omit<AuditOfAllQuery, 'before' | 'limit'>,
): ListExport {
  return {
    columns: 'id,at,email,userId,app,label,action,targetType,targetId,detail'.split(','),
    pages: readAll(
      (last: Awaited<ReturnType<typeof readAuditOfAll>>[number] | undefined) => {
        const before = last?.id ?? Number.MAX_SAFE_INTEGER
        return readAuditOfAll(storage.longReads, { ...filter, before, limit: PAGE_ROWS })
      },
      (row) => ({
        id: row.id,
        at: isoTime(row.created_at * 1_000),
        email: row.email ?? undefined,
        userId: row.actor_id ?? undefined,
        app: row.app,
        label: row.actor_label ?? undefined,
        action: row.action,
        targetType: row.target_type ?? undefined,
        targetId: row.target_id ?? undefined,
        detail: row.detail ?? undefined,
      }),
    ),
  }
}

/** The requests of each user in a month, by its first day. */
export function exportUsage({ storage, plans }: Sources, month: number): ListExport {
  return {
    columns: 'month,userId,email,plan,requests,errors,limited'.split(','),
    pages: readAll(
      (last: Awaited<ReturnType<typeof readUsersOfMonth>>[number] | undefined) =>
        readUsersOfMonth(storage.longReads, {
          month,
          after: last?.userId ?? '',
          limit: USAGE_ROWS,
        }),
      ({ assignedPlan, subscribed, ...row }) => ({
        ...row,
        month: dateOfDay(month).slice(0, 7),
        plan: planInEffect({ assignedPlan, subscribed }, plans).id,
      }),
    ),
  }
}

/** The invoices of all customers that were made in the period, newest first, without drafts. */
export function exportInvoices({ billing }: Sources, { start, end }: BillingPeriod): ListExport {
  const period = { from: start / 1_000, to: end / 1_000 }
  const read = (after: string | undefined) =>
    // Each page has a time limit of its own.
    listInvoicesOfAll(billing.openStripe(), { ...period, after })
  return {
    columns:
      'number,id,createdAt,status,customer,name,email,country,currency,net,tax,total,paid'.split(
        ',',
      ),
    pages: readInvoices(read),
  }
}

type InvoiceOfAll = Awaited<ReturnType<ReadInvoices>>[number]

type ReadInvoices = (after: string | undefined) => ReturnType<typeof listInvoicesOfAll>

async function* readInvoices(read: ReadInvoices) {
  for (let after: string | undefined; ; ) {
    const invoices = await read(after)
    if (invoices.length === 0) return
    yield invoices.filter(({ status }) => status !== 'draft').map(toInvoiceRow)
    after = invoices.at(-1)?.id
  }
}

function toInvoiceRow({ total, tax, paid, currency, ...invoice }: InvoiceOfAll): CsvRow {
  const digits = decimalPlaces(currency)
  const amount = (units: number) => (units / 10 ** digits).toFixed(digits)
  return {
    ...invoice,
    currency: currency.toUpperCase(),
    net: amount(total - tax),
    tax: amount(tax),
    total: amount(total),
    paid: amount(paid),
  }
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}
