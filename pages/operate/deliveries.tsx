import { ChoiceLinks } from '../dashboard/parts/choice-links.tsx'
import { Empty } from '../dashboard/parts/empty.tsx'
import { Confirm, PostButton } from '../dashboard/parts/form.tsx'
import { count } from '../dashboard/parts/format.ts'
import { undirected } from '../dashboard/parts/given.tsx'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { PageLink, PageLinks } from '../dashboard/parts/page-links.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { FactList } from '../fact-list.tsx'

type State = 'waiting' | 'delivered' | 'dead' | 'kept'

/** A message, as an operator sees it. Times are ISO 8601. */
export interface ShownDelivery {
  readonly id: string
  readonly heading: string
  readonly facts: readonly (readonly [name: string, value: string | undefined])[]
  readonly message?: string
  /** Whose message it is, or whom it is about; null: nobody's. */
  readonly userId: string | null
  readonly state: State
  readonly createdAt: string
  /** When the next attempt is due. */
  readonly nextAt: string | undefined
  readonly settledAt: string | undefined
  readonly attempts: number
  readonly lastError: string | null
  readonly canRetry: boolean
}

interface DeliveriesProps extends Omit<PageProps, 'base'> {
  /** Of this page, with the base path of the instance. */
  readonly path: string
  readonly noun: 'inquiry' | 'notice'
  /** An empty state: all. Pages are counted from 1. */
  readonly filter: { readonly state: State | ''; readonly page: number }
  readonly counts: Readonly<Partial<Record<State, number>>>
  readonly deliveries: readonly ShownDelivery[]
  readonly hasMore: boolean
  /** Why no messages come in; null if they can. */
  readonly gap: string | null
}

const STATES: Readonly<Record<State, string>> = {
  waiting: 'Queued',
  dead: 'Failed',
  kept: 'Stored',
  delivered: 'Delivered',
}
const BADGES: Readonly<Record<State, string>> = {
  waiting: 'badge near',
  dead: 'badge error',
  kept: 'badge',
  delivered: 'badge good',
}
const DONE: Readonly<Record<string, string>> = {
  queued: 'Queued again. The server delivers it now.',
  removed: 'Removed.',
}

export function Deliveries(props: DeliveriesProps) {
  const { path, noun, filter, counts, deliveries, hasMore, gap, done = '', error } = props
  const hasFailed = (counts.dead ?? 0) > 0
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {gap !== null && deliveries.length > 0 && <Notice kind="hint">{gap}</Notice>}
      <States path={path} chosen={filter.state} counts={counts} />
      {hasFailed && filter.state === 'dead' && (
        <PostButton action={`${path}/retry-failed`} text="Queue all failed again" kind="quiet" />
      )}
      {deliveries.length === 0 ? (
        <Empty icon="inbox" title={noneText(noun, filter)}>
          <p class="soft">{gap ?? 'A new one shows here at once.'}</p>
        </Empty>
      ) : (
        <ul class="items">
          {deliveries.map((delivery) => (
            <DeliveryItem path={path} noun={noun} delivery={delivery} />
          ))}
        </ul>
      )}
      <Pager path={path} filter={filter} hasMore={hasMore} />
    </>
  )
}

function noneText(noun: DeliveriesProps['noun'], filter: DeliveriesProps['filter']): string {
  if (filter.page > 1) return `There is no page ${filter.page}`
  if (filter.state !== '') return 'None in this state'
  return noun === 'inquiry' ? 'No inquiries' : 'No deliveries'
}

function States({
  path,
  chosen,
  counts,
}: Pick<DeliveriesProps, 'path' | 'counts'> & { readonly chosen: State | '' }) {
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0)
  const link = (state: State | '', text: string, n: number) => ({
    text: `${text} (${count(n)})`,
    href: state === '' ? path : `${path}?state=${state}`,
    isChosen: state === chosen,
  })
  const links = [
    link('', 'All', all),
    link('waiting', STATES.waiting, counts.waiting ?? 0),
    link('dead', STATES.dead, counts.dead ?? 0),
    link('kept', STATES.kept, counts.kept ?? 0),
    link('delivered', STATES.delivered, counts.delivered ?? 0),
  ]
  return <ChoiceLinks label="States" look="tabs" links={links} />
}

/** The page next to that of the deliveries. */
function peoplePath(path: string): string {
  return `${path.slice(0, path.lastIndexOf('/'))}/people`
}

interface DeliveryItemProps {
  readonly path: string
  readonly noun: string
  readonly delivery: ShownDelivery
}

function DeliveryItem({ path, noun, delivery }: DeliveryItemProps) {
  const { id, heading, facts, userId, message, state, createdAt, nextAt, settledAt } = delivery
  const name = undirected(heading)
  const retry = state === 'kept' ? 'Deliver' : 'Retry'
  return (
    <li class="card item">
      <div class="item-head">
        <h2>{heading}</h2>
        <span class={BADGES[state]}>{STATES[state]}</span>
      </div>
      <FactList
        facts={[
          ...facts,
          [
            'User',
            userId === null ? undefined : <a href={`${peoplePath(path)}/${userId}`}>{userId}</a>,
          ],
          ['Received', <Time at={createdAt} />],
          ['Attempts', count(delivery.attempts)],
          ['Next attempt', nextAt && <Time at={nextAt} />],
          ['Settled', settledAt && <Time at={settledAt} />],
          ['Last error', delivery.lastError ?? undefined],
        ]}
      />
      {message !== undefined && (
        <details>
          <summary aria-label={`Message of ${name}`}>Message</summary>
          <p class="message">{message}</p>
        </details>
      )}
      <div class="actions">
        {delivery.canRetry && (
          <PostButton
            action={`${path}/${id}/retry`}
            text={retry}
            label={`${retry} ${name}`}
            kind="quiet"
          />
        )}
        <Confirm
          summary="Remove…"
          label={`Remove ${name}…`}
          action={`${path}/${id}/remove`}
          text="Remove permanently"
        >
          <p>The {noun} is deleted and cannot be restored.</p>
        </Confirm>
      </div>
    </li>
  )
}

function Pager({ path, filter, hasMore }: Pick<DeliveriesProps, 'path' | 'filter' | 'hasMore'>) {
  const { state, page } = filter
  if (page === 1 && !hasMore) return null
  const at = (to: number) => ({ path, query: { state, page: String(to) } })
  return (
    <PageLinks>
      {page > 1 && <PageLink {...at(page - 1)} text="Newer" />}
      <span class="soft">Page {count(page)}</span>
      {hasMore && <PageLink {...at(page + 1)} text="Older" />}
    </PageLinks>
  )
}
