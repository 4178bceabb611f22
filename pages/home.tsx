import type { Plan } from '../lib/plans.ts'
import { Databases, type ListedDatabase } from './databases.tsx'
import type { PageAssets } from './document.tsx'
import { type Instance, Layout } from './layout.tsx'
import { LookUpForm } from './look-up-form.tsx'
import { type Outcome, OutcomeView } from './outcome.tsx'
import { PlanTable } from './plan-table.tsx'

export interface HomeProps {
  readonly instance: Instance
  readonly assets: PageAssets
  /** Of the service, without a slash at the end. */
  readonly url: string
  /** What the visitor has typed; null: nothing, so that it is about their own address. */
  readonly typed: string | null
  readonly outcome: Outcome
  readonly plans: readonly Plan[]
  readonly databases: readonly ListedDatabase[]
  /** null: visitors may look up no other address than their own. */
  readonly form: { readonly demoKey: string | null } | null
}

/** The page of a running instance: what it is, a look-up to try, plans, and whose data it has. */
export function HomePage(props: HomeProps) {
  const { instance, assets, url, typed, outcome, plans, databases, form } = props
  return (
    <Layout instance={instance} title="Meridian: where is an IP address?" path="/" assets={assets}>
      <main id="content">
        <section class="hero">
          <h1>Where is an IP address?</h1>
          <p class="lead">
            This server runs Meridian. It tells where an address is, which network it belongs to and
            what time it is there, from database files of its own: no look-up leaves it.
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
        <section id="answer" class="card" aria-live="polite" aria-label="Answer">
          <OutcomeView outcome={outcome} isOwn={typed === null} />
        </section>
        <section aria-labelledby="code">
          <h2 id="code">From your own programs</h2>
          <p>
            A look-up is one request with an API key. The{' '}
            <a href={`${instance.base}/docs`}>API reference</a> has every operation, and sends
            requests with your key.
          </p>
          <pre tabindex={0}>{`curl -H "X-API-Key: $KEY" ${url}/v1/ip/81.2.69.160`}</pre>
        </section>
        <PlanTable plans={plans} />
        <Databases databases={databases} />
      </main>
    </Layout>
  )
}
