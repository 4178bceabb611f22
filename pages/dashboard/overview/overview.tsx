import { moneyText } from '../../../lib/config/money.ts'
import type { UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Overages } from '../../../lib/contract/billing/overages.ts'
import { FirstKeyButton } from '../../first-key.tsx'
import { Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { count, counted } from '../parts/format.ts'
import { Given } from '../parts/given.tsx'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'

const CHART_HEIGHT = 120
const BAR_STEP = 20
const BAR_WIDTH = 14

interface OverviewProps {
  readonly base: string
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly usage: UsageStats
  /** The current plan; null if unknown. */
  readonly plan: Plan | null
  /** null if the plan has no overages, or their price is not known. */
  readonly overages: Overages | null
}

export function Overview({ base, url, usage, plan, overages }: OverviewProps) {
  const { totalRequests, monthlyCap, totalKeys, activeKeys, dailyUsage, keys } = usage
  return (
    <>
      <CapNotice base={base} usage={usage} overages={overages} />
      <div class="tiles">
        <Card id="requests" title="Requests this period">
          <p class="figure">{count(totalRequests)}</p>
          {monthlyCap === null ? (
            <Charged overages={overages} />
          ) : (
            <>
              <UsageBar used={totalRequests} cap={monthlyCap} />
              <p class="soft">
                {percent(totalRequests, monthlyCap)} of {count(monthlyCap)}
              </p>
            </>
          )}
        </Card>
        <Card id="plan" title="Plan">
          <p class="figure">{plan?.name ?? '–'}</p>
          <p>
            <a href={`${base}/app/billing`}>Plans and billing</a>
          </p>
        </Card>
        <Card id="key-count" title="Active keys">
          <p class="figure">{count(activeKeys)}</p>
          <p>
            <a href={`${base}/app/keys`}>
              {totalKeys === activeKeys
                ? 'Manage keys'
                : `Manage ${count(totalKeys)} keys, including expired ones`}
            </a>
          </p>
        </Card>
      </div>
      {keys.length === 0 ? (
        <FirstKey base={base} url={url} />
      ) : (
        <>
          <Card id="daily" title="Requests per day">
            <DailyChart days={dailyUsage} />
            <p>
              <a href={`${base}/app/usage`}>By endpoint, key and result</a>
            </p>
          </Card>
          <KeyRates keys={keys} />
        </>
      )}
    </>
  )
}

/** What the requests of a user with overages cost so far. */
function Charged({ overages }: Pick<OverviewProps, 'overages'>) {
  if (overages === null) {
    return <p class="soft">Requests over the cap are charged</p>
  }
  const { units, cap, amount, spendingCap, currency } = overages
  return (
    <p class="soft">
      {count(units)} of them over the cap of {count(cap)}: {moneyText(amount, currency)} of at most{' '}
      {moneyText(spendingCap, currency)}
    </p>
  )
}

function CapNotice({ base, usage, overages }: Pick<OverviewProps, 'base' | 'usage' | 'overages'>) {
  const { totalRequests, monthlyCap } = usage
  if (monthlyCap === null) return null
  const advice = overages === null ? 'Change your plan' : 'Change your plan or allow overages'
  const link = <a href={`${base}/app/billing`}>{advice}</a>
  switch (levelOf(monthlyCap === 0 ? 1 : totalRequests / monthlyCap)) {
    case 'low':
      return null
    case 'near':
      return (
        <Notice kind="hint">
          You have used {percent(totalRequests, monthlyCap)} of your {count(monthlyCap)} requests in
          this period. {link}.
        </Notice>
      )
    case 'full':
      return (
        <Notice kind="error">
          You have used all {count(monthlyCap)} requests of this period. Look-ups now return only
          the country. {link}.
        </Notice>
      )
  }
}

function FirstKey({ base, url }: Pick<OverviewProps, 'base' | 'url'>) {
  return (
    <Card id="first" title="Create your first key">
      <p>You look up an address with one request and a key.</p>
      <Copyable id="curl" text={`curl -H "X-API-Key: $KEY" ${url}/v1/ip/81.2.69.160`} />
      <FirstKeyButton base={base} />
      <p class="soft">
        This key may only look up addresses.{' '}
        <a href={`${base}/app/keys/new`}>Choose other permissions</a>
      </p>
    </Card>
  )
}

function KeyRates({ keys }: Pick<UsageStats, 'keys'>) {
  return (
    <Card id="rates" title="Rate limit per key">
      <div class="wide">
        <Table
          heads={['Key', 'Last used', 'Requests left this minute']}
          rows={keys.map(({ keyPrefix, keyName, lastUsedAt, rateLimitRemaining, rateLimitMax }) => [
            [<Given text={keyName} />, ' ', <code class="soft">{keyPrefix}…</code>],
            <Time at={lastUsedAt} />,
            `${count(rateLimitRemaining)} of ${counted(rateLimitMax, 'request', 'requests')}`,
          ])}
        />
      </div>
    </Card>
  )
}

/** Rounded down, so that 100% means that everything is used. */
function percent(used: number, cap: number): string {
  return `${Math.floor(cap === 0 ? 100 : Math.min(1, used / cap) * 100)}%`
}

/** A bar that shows how much of a cap is used. The text beside it says the same. */
function UsageBar({ used, cap }: { used: number; cap: number }) {
  const share = cap === 0 ? 1 : Math.min(1, used / cap)
  return (
    <svg
      class={`usage-bar ${levelOf(share)}`}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect class="ground" width="100" height="4" />
      <rect class="used" width={(share * 100).toFixed(2)} height="4" />
    </svg>
  )
}

/** `near` starts at 80%, like the `near_cap` entry of the audit log. */
function levelOf(share: number): 'low' | 'near' | 'full' {
  if (share >= 1) return 'full'
  return share >= 0.8 ? 'near' : 'low'
}

/** Requests per day, oldest first, as bars and as a table for people who cannot see the bars. */
function DailyChart({ days }: { readonly days: UsageStats['dailyUsage'] }) {
  const most = Math.max(0, ...days.map(({ requests }) => requests))
  const heightOf = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, (requests / most) * CHART_HEIGHT)
  return (
    <figure class="daily">
      <svg
        viewBox={`0 0 ${days.length * BAR_STEP} ${CHART_HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {days.map(({ date, requests }, at) => {
          const height = heightOf(requests)
          return (
            <g>
              <title>{`${date}: ${count(requests)}`}</title>
              <rect class="ground" x={at * BAR_STEP} width={BAR_STEP} height={CHART_HEIGHT} />
              <rect
                class="day"
                x={at * BAR_STEP + 3}
                y={CHART_HEIGHT - height}
                width={BAR_WIDTH}
                height={height}
              />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{days[0]?.date}</span>
        <span>Daily peak: {count(most)}</span>
        <span>{days.at(-1)?.date}</span>
      </figcaption>
      <details>
        <summary>Show as a table</summary>
        <div class="wide">
          <Table
            heads={['Day (UTC)', 'Requests']}
            rows={days.toReversed().map(({ date, requests }) => [date, count(requests)])}
          />
        </div>
      </details>
    </figure>
  )
}
