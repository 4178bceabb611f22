import type { Child } from 'hono/jsx'
import { Databases, type ListedDatabase } from './databases.tsx'
import { Layout, type LayoutProps } from './layout.tsx'
import { LookUpForm } from './look-up-form.tsx'
import { type Outcome, OutcomeView } from './outcome.tsx'
import { PlanTable, type PlanTableProps } from './plan-table.tsx'

interface HomeProps extends Pick<LayoutProps, 'instance' | 'assets'> {
  /** The base URL of the service, without a trailing slash. */
  readonly url: string
  /** The typed address; null to show the visitor's own address. */
  readonly typed: string | null
  readonly outcome: Outcome
  readonly about: Child
  /** null if visitors may look up only their own address. */
  readonly form: { readonly demoKey: string | null } | null
}

/** The landing page: what Meridian is, a look-up to try, the plans and the data sources. */
export function HomePage(props: HomeProps) {
  const { instance, assets, url, typed, outcome, about, form } = props
  return (
    <Layout instance={instance} title="Meridian: where is an IP address?" path="/" assets={assets}>
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
              demoKey={form.demoKey}
            />
          )}
        </section>
        <section id="answer" class="card" aria-live="polite" aria-label="Result">
          <OutcomeView outcome={outcome} isOwn={typed === null} />
        </section>
        <section aria-labelledby="code">
          <h2 id="code">From your own programs</h2>
          <p>
            You look up an address with one request and an API key. The{' '}
            <a href={`${instance.base}/docs`}>API reference</a> lists every operation and lets you
            try it with your key.
          </p>
          <pre tabindex={0}>{`curl -H "X-API-Key: $KEY" ${url}/v1/ip/81.2.69.160`}</pre>
        </section>
        {about}
      </main>
    </Layout>
  )
}

interface AboutProps extends PlanTableProps {
  readonly databases: readonly ListedDatabase[]
}

/** The part of the landing page that does not depend on the visitor. */
export function HomeAbout({ plans, prices, databases }: AboutProps) {
  return (
    <>
      <PlanTable plans={plans} prices={prices} />
      <Databases databases={databases} />
    </>
  )
}
