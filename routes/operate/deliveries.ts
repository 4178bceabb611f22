import * as v from 'valibot'
import type { DeliveryState, DeliveryStore } from '../../lib/contact/delivery-store.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import { Deliveries, type ShownDelivery } from '../../pages/operate/deliveries.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, operatorAudit } from './action.ts'

/** The columns of every message that a courier delivers. */
interface DeliveryRow {
  readonly id: string
  readonly state: DeliveryState
  readonly createdAt: number
  readonly dueAt: number
  readonly attempts: number
  readonly settledAt: number | null
  readonly lastError: string | null
}

/** A kind of messages with a page of its own. */
export interface DeliveryKind<Row extends DeliveryRow> {
  readonly path: '/app/operate/inquiries' | '/app/operate/notices'
  readonly title: string
  readonly noun: 'inquiry' | 'notice'
  readonly store: DeliveryStore<Row>
  readonly describe: (row: Row) => Pick<ShownDelivery, 'heading' | 'facts' | 'message' | 'userId'>
  /** The channel that delivers the row; null: the row is only stored. */
  readonly findCourier: (services: Services, row: Row) => { retry(): Promise<void> } | null
  /** Why no messages come in; null if they can. */
  readonly findGap: (services: Services) => string | null
  /** Why a row is only stored. */
  readonly reasonKept: string
}

/** A page with the messages, newest first, and its forms. */
export function deliveryRoutes<Row extends DeliveryRow>(
  kind: DeliveryKind<Row>,
): AppRoute<UserVisit>[] {
  const { path } = kind
  const show = (visit: UserVisit, shown: { readonly error?: string } = {}, status = 200) =>
    showDeliveries(kind, visit, { ...shown, status })
  return [
    { method: 'get', path, answer: (visit) => show(visit) },
    ...actionRoutes(path, show, {
      '/retry-failed': async (visit) => {
        await retryFailed(kind, visit)
        return `${path}?done=queued`
      },
      '/:id/retry': async (visit) => {
        const row = await getRow(kind, visit)
        if (row.state === 'delivered') throw refusal('It is delivered already')
        if (!(await requeue(kind, visit, row))) throw refusal('It is being delivered right now')
        return `${path}?done=queued`
      },
      '/:id/remove': async (visit) => {
        await remove(kind, visit, await getRow(kind, visit))
        return `${path}?done=removed`
      },
    }),
  ]
}

async function getRow<Row extends DeliveryRow>(
  { store, noun }: DeliveryKind<Row>,
  { services, c }: UserVisit,
): Promise<Row> {
  const row = await store.find(services.db, c.req.param('id') ?? '')
  if (row === null) throw new ApiError('NOT_FOUND', `There is no such ${noun}`)
  return row
}

/** Queues the message and has it delivered in the background. Returns false if an attempt is running. */
async function requeue<Row extends DeliveryRow>(
  { store, noun, findCourier, reasonKept }: DeliveryKind<Row>,
  visit: UserVisit,
  row: Row,
): Promise<boolean> {
  const { services } = visit
  const { db, log, now } = services
  const courier = findCourier(services, row)
  if (courier === null) throw refusal(reasonKept)
  const note = { action: `retry_${noun}`, targetType: noun, targetId: row.id } as const
  const statements = [store.requeue(db, row, now()), operatorAudit(visit, note)] as const
  if (!(await runInTransaction(db, statements))) return false
  courier.retry().catch((error: unknown) => log.error({ err: error }, 'cannot deliver at once'))
  return true
}

const MAX_RETRIED = 1_000

async function retryFailed<Row extends DeliveryRow>(
  kind: DeliveryKind<Row>,
  visit: UserVisit,
): Promise<void> {
  const wanted = { state: 'dead', limit: MAX_RETRIED, offset: 0 } as const
  for (const row of await kind.store.list(visit.services.db, wanted)) {
    await requeue(kind, visit, row)
  }
}

/** The audit row names no person: it cannot be deleted later. */
async function remove<Row extends DeliveryRow>(
  { store, noun }: DeliveryKind<Row>,
  visit: UserVisit,
  row: Row,
): Promise<void> {
  const { db } = visit.services
  const note = { action: `remove_${noun}`, targetType: noun, targetId: row.id } as const
  await runInTransaction(db, [store.remove(db, row), operatorAudit(visit, note)])
}

function refusal(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message)
}

const PAGE_SIZE = 25

const Filter = v.object({
  state: v.fallback(v.picklist(['', 'waiting', 'dead', 'kept', 'delivered']), ''),
  page: v.fallback(v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/), v.toNumber()), 1),
})

async function showDeliveries<Row extends DeliveryRow>(
  kind: DeliveryKind<Row>,
  visit: UserVisit,
  { status, ...shown }: { readonly error?: string; readonly status: number },
): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { longReads } = services.storage
  const { path, title, noun, store, findGap } = kind
  const filter = v.parse(Filter, c.req.query())
  const { state, page } = filter
  const offset = (page - 1) * PAGE_SIZE
  const wanted = { state: state === '' ? undefined : state, limit: PAGE_SIZE + 1, offset }
  const rows = await store.list(longReads, wanted)
  const content = Deliveries({
    path: `${instance.base}${path}`,
    noun,
    filter,
    counts: Object.fromEntries(await store.count(longReads)),
    deliveries: rows.slice(0, PAGE_SIZE).map((row) => toShown(kind, services, row)),
    hasMore: rows.length > PAGE_SIZE,
    gap: findGap(services),
    done: c.req.query('done'),
    ...shown,
  })
  return showOperatePage(visit, { title, content, status })
}

function toShown<Row extends DeliveryRow>(
  { describe, findCourier }: DeliveryKind<Row>,
  services: Services,
  row: Row,
): ShownDelivery {
  const { id, state, attempts, lastError } = row
  return {
    ...describe(row),
    id,
    state,
    attempts,
    lastError,
    createdAt: isoTime(row.createdAt),
    nextAt: state === 'waiting' ? isoTime(row.dueAt) : undefined,
    settledAt: row.settledAt === null ? undefined : isoTime(row.settledAt),
    canRetry: state !== 'delivered' && findCourier(services, row) !== null,
  }
}
