import type { UsageStats } from '../../lib/contract/account-schemas.ts'
import { Copyable } from './copyable.tsx'
import { DailyChart } from './daily-chart.tsx'
import { Notice } from './notice.tsx'
import { Time } from './time.tsx'
import { levelOf, UsageBar } from './usage-bar.tsx'
import { count, counted } from './words.ts'

interface OverviewProps {
  readonly base: string
  /** Of the service, without a slash at the end. */
  readonly url: string
  readonly usage: UsageStats
  /** The name of the plan in effect; null: it cannot be told now. */
  readonly plan: string | null
}

export function Overview({ base, url, usage, plan }: OverviewProps) {
  const { totalRequests, monthlyCap, totalKeys, activeKeys, dailyUsage, keys } = usage
  return (
    <>
      <CapNotice base={base} usage={usage} />
      <div class="tiles">
        <section class="card" aria-labelledby="requests">
          <h2 id="requests">Requests this period</h2>
          <p class="figure">{count(totalRequests)}</p>
          {monthlyCap === null ? (
            <p class="soft">No cap: overages are on</p>
          ) : (
            <>
              <UsageBar used={totalRequests} cap={monthlyCap} />
              <p class="soft">
                {percent(totalRequests, monthlyCap)} of {count(monthlyCap)}
              </p>
            </>
          )}
        </section>
        <section class="card" aria-labelledby="plan">
          <h2 id="plan">Plan</h2>
          <p class="figure">{plan ?? '–'}</p>
          <p>
            <a href={`${base}/app/billing`}>Plans and billing</a>
          </p>
        </section>
        <section class="card" aria-labelledby="key-count">
          <h2 id="key-count">Keys</h2>
          <p class="figure">{count(activeKeys)}</p>
          <p>
            <a href={`${base}/app/keys`}>
              {totalKeys === activeKeys ? 'Manage keys' : `${count(totalKeys)} with expired ones`}
            </a>
          </p>
        </section>
      </div>
      {keys.length === 0 ? (
        <FirstKey base={base} url={url} />
      ) : (
        <>
          <section class="card" aria-labelledby="daily">
            <h2 id="daily">Requests per day</h2>
            <DailyChart days={dailyUsage} />
          </section>
          <KeyRates keys={keys} />
        </>
      )}
    </>
  )
}

function CapNotice({ base, usage }: Pick<OverviewProps, 'base' | 'usage'>) {
  const { totalRequests, monthlyCap } = usage
  if (monthlyCap === null) return null
  const link = <a href={`${base}/app/billing`}>Change the plan or allow overages</a>
  switch (levelOf(monthlyCap === 0 ? 1 : totalRequests / monthlyCap)) {
    case 'low':
      return null
    case 'near':
      return (
        <Notice kind="hint">
          {percent(totalRequests, monthlyCap)} of the {count(monthlyCap)} requests of this period
          are used. {link}.
        </Notice>
      )
    case 'full':
      return (
        <Notice kind="trouble">
          All {count(monthlyCap)} requests of this period are used: answers are reduced to the
          country. {link}.
        </Notice>
      )
  }
}

function FirstKey({ base, url }: Pick<OverviewProps, 'base' | 'url'>) {
  return (
    <section class="card empty" aria-labelledby="first">
      <h2 id="first">Make your first key</h2>
      <p>A look-up is one request with a key.</p>
      <Copyable id="curl" text={`curl -H "X-API-Key: $KEY" ${url}/v1/ip/81.2.69.160`} />
      <p>
        <a class="button" href={`${base}/app/keys`}>
          Create a key
        </a>
      </p>
    </section>
  )
}

function KeyRates({ keys }: Pick<UsageStats, 'keys'>) {
  return (
    <section class="card" aria-labelledby="rates">
      <h2 id="rates">What each key may do now</h2>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Last used</th>
              <th scope="col">Requests left this minute</th>
            </tr>
          </thead>
          <tbody>
            {keys.map(({ keyPrefix, keyName, lastUsedAt, rateLimitRemaining, rateLimitMax }) => (
              <tr>
                <th scope="row">
                  {keyName} <code class="soft">{keyPrefix}…</code>
                </th>
                <td>
                  <Time at={lastUsedAt} />
                </td>
                <td>
                  {count(rateLimitRemaining)} of {counted(rateLimitMax, 'request', 'requests')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Rounded down, so that it says 100 % only when all of it is used. */
function percent(used: number, cap: number): string {
  return `${Math.floor(cap === 0 ? 100 : Math.min(1, used / cap) * 100)} %`
}
