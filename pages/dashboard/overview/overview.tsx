import { moneyText } from '../../../lib/config/money.ts'
import type { ApiKeyInfo, UsageStats } from '../../../lib/contract/account/account-schemas.ts'
import type { Plan } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Overages } from '../../../lib/contract/billing/overages.ts'
import { FirstKeyButton } from '../../first-key.tsx'
import { Card, sizeOf } from '../parts/card.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { count, percent } from '../parts/format.ts'
import { Given } from '../parts/given.tsx'
import { Notice } from '../parts/notice.tsx'
import { Time } from '../parts/time.tsx'
import type { Requests } from './requests.ts'
import { RequestsCard } from './requests-card.tsx'
import { type SiteGlance, SlowestSite, Troubles } from './troubles.tsx'

/** A key that expires sooner is named. */
const SOON_MS = 30 * 86_400_000

interface OverviewProps {
  readonly base: string
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  readonly usage: UsageStats
  /** The current plan; null if unknown. */
  readonly plan: Plan | null
  /** null if the plan has no overages, or their price is not known. */
  readonly overages: Overages | null
  /** When the requests of the period begin at zero again, in ISO 8601. */
  readonly resetsAt: string
  readonly keys: readonly ApiKeyInfo[]
  /** Ids of keys that another one replaces: they are meant to expire. */
  readonly replaced: readonly string[]
  readonly now: number
  readonly requests: Requests
  /** The first sites. */
  readonly sites: readonly SiteGlance[]
  readonly siteCount: number
}

export function Overview(props: OverviewProps) {
  const { base, url, usage, overages, keys, requests, sites, siteCount } = props
  return (
    <>
      <CapNotice base={base} usage={usage} overages={overages} />
      {keys.length === 0 && <FirstKey base={base} url={url} />}
      <div class="tiles of-four">
        <PeriodCard {...props} />
        <PlanAndKeys {...props} />
        <SlowestSite base={base} sites={sites} siteCount={siteCount} />
      </div>
      {(keys.length > 0 || requests.total > 0) && <RequestsCard base={base} requests={requests} />}
      <Troubles base={base} errors={requests.errors} sites={sites} siteCount={siteCount} />
    </>
  )
}

function PeriodCard({ usage, overages, resetsAt }: OverviewProps) {
  const { totalRequests, monthlyCap } = usage
  return (
    <Card id="requests" title="Requests this period">
      <p class="figure">{count(totalRequests)}</p>
      {monthlyCap === null ? (
        <Charged overages={overages} />
      ) : (
        <>
          <UsageBar used={totalRequests} cap={monthlyCap} />
          <p class="soft">
            of {count(monthlyCap)}, resets on <Time at={resetsAt} precision="day" />
          </p>
        </>
      )}
    </Card>
  )
}

function PlanAndKeys({ base, plan, keys, replaced, now }: OverviewProps) {
  const active = keys.filter(({ isActive }) => isActive)
  const ending = active
    .filter(({ id }) => !replaced.includes(id))
    .flatMap(({ name, expiresAt }) => (expiresAt === null ? [] : [{ name, expiresAt }]))
    .filter(({ expiresAt }) => Date.parse(expiresAt) < now + SOON_MS)
  const [next] = ending.toSorted((a, b) => a.expiresAt.localeCompare(b.expiresAt))
  const planName = plan?.name ?? '–'
  const size = next === undefined ? sizeOf(planName, count(active.length)) : undefined
  return (
    <>
      <Card id="plan" title="Plan" size={size}>
        <p class="figure">{planName}</p>
        <a href={`${base}/app/billing`}>Plans and billing</a>
      </Card>
      <Card id="key-count" title="Active keys" size={size}>
        <p class="figure">{count(active.length)}</p>
        {next !== undefined && (
          <p class="near">
            <Given text={next.name} /> expires on <Time at={next.expiresAt} precision="day" />
          </p>
        )}
        <a href={`${base}/app/keys`}>
          {keys.length === active.length
            ? 'Manage keys'
            : `Manage ${count(keys.length)} keys, including expired ones`}
        </a>
      </Card>
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
          You have used {percent(wholePercent(totalRequests / monthlyCap))} of your{' '}
          {count(monthlyCap)} requests in this period. {link}.
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

/** Rounded down, so that 100% means that everything is used. */
function wholePercent(share: number): number {
  return Math.floor(share * 100) / 100
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
