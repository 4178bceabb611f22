import type { Child } from 'hono/jsx'
import type { Plan } from '../lib/config/plans.ts'
import type { PlanPrices } from '../lib/contract/billing/price-schemas.ts'
import { databaseName } from '../lib/contract/geo/database-names.ts'
import type { ServiceInfo } from '../lib/contract/system.ts'
import { Answer, type MapHrefs } from './answer.tsx'
import { counted } from './dashboard/parts/format.ts'
import { Time } from './dashboard/parts/time.tsx'
import { FirstKeyButton } from './first-key.tsx'
import { Layout, type LayoutProps } from './layout.tsx'
import { LookUpForm } from './look-up-form.tsx'
import type { Outcome } from './outcome.tsx'
import { PlanLimits } from './plan-limits.tsx'
import { PriceFigure } from './price-figure.tsx'
import { currencyOf, priceBy } from './price-text.ts'

interface HomeProps extends Pick<LayoutProps, 'instance' | 'assets'> {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  /** The typed address; null to show the visitor's own address. */
  readonly typed: string | null
  readonly outcome: Outcome
  readonly maps: MapHrefs
  readonly offersSignUp: boolean
  readonly about: Child
  /** null if visitors may look up only their own address. */
  readonly form: { readonly demoKey: string | null } | null
}

/** In several continents, one in IPv6: the bundled databases know them all. */
export const SAMPLES = ['81.2.69.160', '8.8.8.8', '200.160.2.3', '2001:4860:4860::8888'] as const

/** The landing page: what Meridian is, a look-up to try, the plans and the data sources. */
export function HomePage(props: HomeProps) {
  const { instance, assets, url, typed, outcome, maps, offersSignUp, about, form } = props
  return (
    <Layout
      instance={instance}
      title="Meridian: where is an IP address?"
      description="Where an IP address is, which network it belongs to and what time it is there."
      path="/"
      assets={assets}
    >
      <main id="content">
        <section class="hero">
          <h1>Where is an IP address?</h1>
          <p class="lead">
            This server runs Meridian. It finds where an address is, which network it belongs to and
            what time it is there. It uses its own database files, so no look-up leaves the server.
          </p>
          {form !== null && (
            <LookUpForm
              base={instance.base}
              action={`${instance.base}/`}
              typed={typed}
              isInvalid={outcome.kind === 'invalid'}
              samples={SAMPLES}
              demoKey={form.demoKey}
            />
          )}
        </section>
        <section
          id="answer"
          aria-live="polite"
          aria-label="Answer"
          data-world={maps.world}
          data-tiles={maps.tiles}
        >
          <Answer maps={maps} outcome={outcome} isOwn={typed === null} />
        </section>
        <Start base={instance.base} url={url} offersSignUp={offersSignUp} />
        {about}
      </main>
    </Layout>
  )
}

/** How visitors get an account. */
export interface StartOffers extends Pick<HomeProps, 'offersSignUp'> {
  readonly base: string
}

type StartProps = StartOffers & Pick<HomeProps, 'url'>

/** How to make a first look-up from a program. */
function Start({ base, url, offersSignUp }: StartProps) {
  return (
    <section aria-labelledby="code">
      <h2 id="code">From your own programs</h2>
      <ol class="first-steps">
        <li class="card">
          <h3>{offersSignUp ? 'Create an account' : 'Sign in'}</h3>
          {offersSignUp && (
            <p class="soft">
              Have one already? <a href={`${base}/app/sign-in`}>Sign in</a>.
            </p>
          )}
          <a class="button" href={`${base}/app/sign-${offersSignUp ? 'up' : 'in'}`}>
            {offersSignUp ? 'Sign up' : 'Sign in'}
          </a>
        </li>
        <li class="card">
          <h3>Create a key</h3>
          <p class="soft">One click once you are signed in. It may look up addresses.</p>
          <FirstKeyButton base={base} kind="quiet" />
        </li>
        <li class="card">
          <h3>Look up an address</h3>
          <pre tabindex={0}>{`curl -H "X-API-Key: $KEY" ${url}/v1/ip/81.2.69.160`}</pre>
          <p class="soft">
            The <a href={`${base}/docs`}>API reference</a> lists every operation, and sends requests
            with your key.
          </p>
        </li>
      </ol>
    </section>
  )
}

interface AboutProps extends PlanCardsProps {
  readonly databases: readonly ListedDatabase[]
}

/** The part of the landing page that does not depend on the visitor. */
export function HomeAbout({ databases, ...offers }: AboutProps) {
  return (
    <>
      <PlanCards {...offers} />
      <Databases databases={databases} />
    </>
  )
}

type ListedDatabase = Required<ServiceInfo['databases'][number]>

/** The databases behind the answers, with the attributions that their licences require. */
function Databases({ databases }: { readonly databases: readonly ListedDatabase[] }) {
  const attributions = new Set(databases.map(({ attribution }) => attribution))
  return (
    <section aria-labelledby="data">
      <h2 id="data">Data</h2>
      <ul class="databases">
        {databases.map(({ name, provider, builtAt }) => (
          <li>
            <span>{databaseName(name)}</span>
            <span>
              {databaseName(provider)}, built <Time at={builtAt} precision="day" />
            </span>
          </li>
        ))}
      </ul>
      {[...attributions].filter(Boolean).map((text) => (
        <p class="attribution">
          <LinkedText text={text} />
        </p>
      ))}
    </section>
  )
}

/** The text with its URLs as links. */
function LinkedText({ text }: { readonly text: string }) {
  const parts = text.split(/(https:\/\/[^\s,()]+)/)
  return (
    <>{parts.map((part) => (part.startsWith('https://') ? <a href={part}>{part}</a> : part))}</>
  )
}

interface PlanCardsProps extends StartOffers {
  /** The plans of the instance, cheapest first. */
  readonly plans: readonly Plan[]
  /** The one that a sign-up gives. */
  readonly free: Plan
  /** Those for sale; none: pages show no prices. */
  readonly sold: readonly Plan[]
  readonly prices: readonly PlanPrices[]
}

function PlanCards({ plans, free, sold, prices, base, offersSignUp }: PlanCardsProps) {
  return (
    <section class="plans" aria-labelledby="plans">
      <h2 id="plans">Plans</h2>
      <p class="soft">
        Over the per-minute limit you get HTTP 429. Over the monthly limit you get only the country.
      </p>
      <ul class={sold.length > 0 ? 'tiles sold' : 'tiles'}>
        {plans.map((plan) => (
          <li class="card">
            <h3>{plan.name}</h3>
            {sold.length > 0 && <PriceTexts plan={plan} prices={prices} />}
            <PlanLimits plan={plan} requestsPerMinute={plan.requestsPerMinute} />
            {sold.includes(plan) && <PlanButton plan={plan} href={`${base}/app/billing`} />}
            {sold.length > 0 && plan === free && offersSignUp && (
              <PlanButton plan={plan} href={`${base}/app/sign-up`} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

interface PlanButtonProps {
  readonly plan: Plan
  readonly href: string
}

/** Where a visitor gets a plan; the page of billing asks them to sign in first. */
function PlanButton({ plan, href }: PlanButtonProps) {
  return (
    <a class="button quiet" href={href}>
      Choose {plan.name}
    </a>
  )
}

const INTERVALS = ['month', 'year'] as const

interface PriceTextsProps {
  readonly plan: Plan
  readonly prices: readonly PlanPrices[]
}

function PriceTexts({ plan, prices }: PriceTextsProps) {
  const offer = prices.find(({ planId }) => planId === plan.id)
  const trial = offer?.trialDays
  const currency = currencyOf(prices)
  const [month, year] = INTERVALS.map((interval) => priceBy(plan, offer, { interval, currency }))
  const isBoth = month?.interval === 'month' && year?.interval === 'year'
  return (
    <div>
      {month !== undefined && <PriceFigure price={month} />}
      {isBoth && <p class="soft">or {[year.amount, ...year.others].join(' or ')} per year</p>}
      {trial !== undefined && <p class="soft">{counted(trial, 'day', 'days')} free</p>}
    </div>
  )
}
