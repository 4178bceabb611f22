import { Card } from '../dashboard/parts/card.tsx'
import { Confirm, PostButton } from '../dashboard/parts/form.tsx'
import { counted } from '../dashboard/parts/format.ts'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { FactList } from '../fact-list.tsx'
import { JobStatus, type JobView } from './job-status.tsx'

export interface ShownMismatch {
  /** Identifies it in a form. */
  readonly name: string
  readonly kind: string
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
  readonly repair: 'assign' | 'resync' | null
  /** What to do if it cannot be repaired here. */
  readonly advice?: string
}

/** Times are ISO 8601. */
export interface BillingReport {
  readonly comparison: JobView
  /** How many mismatches the last comparison has repaired. */
  readonly repaired: number
  /** null: no comparison has succeeded since the start of the server. */
  readonly mismatches: readonly ShownMismatch[] | null
  readonly duplicates: readonly {
    readonly id: string
    readonly userId: string
    readonly email: string
    readonly plan: string
    readonly status: string
    readonly periodEnd: string
  }[]
}

interface BillingProps extends PageProps {
  /** null: billing is not configured. */
  readonly report: BillingReport | null
}

const DONE: Readonly<Record<string, string>> = {
  ended: 'The second subscription is ended, and its unused time is credited.',
}

export function OperateBilling({ base, report, done = '', error }: BillingProps) {
  const path = `${base}/app/operate/billing`
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {report === null ? (
        <Notice kind="hint">
          Billing is not configured: STRIPE_SECRET_KEY is not set, so nothing is sold.
        </Notice>
      ) : (
        <>
          <Mismatches path={path} report={report} />
          <Duplicates path={path} duplicates={report.duplicates} />
        </>
      )}
    </>
  )
}

/** A comparison may find any number. */
const SHOWN = 100

function Mismatches({ path, report }: { readonly path: string; readonly report: BillingReport }) {
  const { comparison, mismatches, repaired } = report
  return (
    <Card id="mismatches" title="Comparison with Stripe">
      <p>Finds where the database and Stripe disagree, as the command billing does.</p>
      <PostButton action={`${path}/compare`} text="Compare now" />
      <JobStatus id="comparison" job={comparison} running="Comparing" done="Last compared">
        {repaired > 0 && <p>{counted(repaired, 'mismatch', 'mismatches')} repaired.</p>}
        {mismatches !== null && <MismatchList path={path} mismatches={mismatches} />}
      </JobStatus>
    </Card>
  )
}

interface MismatchListProps {
  readonly path: string
  readonly mismatches: readonly ShownMismatch[]
}

function MismatchList({ path, mismatches }: MismatchListProps) {
  if (mismatches.length === 0) return <p>The database agrees with Stripe.</p>
  const canRepair = mismatches.some(({ repair }) => repair !== null)
  return (
    <>
      <p>{counted(mismatches.length, 'mismatch', 'mismatches')}.</p>
      {canRepair && (
        <Confirm summary="Repair all…" action={`${path}/repair`} text="Repair all">
          <p>Users get the plans that they have at Stripe. Plans that have ended there end here.</p>
        </Confirm>
      )}
      <ul class="items">
        {mismatches.slice(0, SHOWN).map((mismatch) => (
          <MismatchItem path={path} mismatch={mismatch} />
        ))}
      </ul>
      {mismatches.length > SHOWN && <p>The command billing lists the others.</p>}
    </>
  )
}

function MismatchItem({ path, mismatch }: { path: string; mismatch: ShownMismatch }) {
  const { name, kind, user, customer, detail, repair, advice } = mismatch
  return (
    <li class="card item">
      <div class="item-head">
        <h3>{detail}</h3>
        <span class={`badge ${repair === null ? 'error' : 'near'}`}>{kind}</span>
      </div>
      <FactList
        facts={[
          ['User', user === null ? undefined : <code>{user}</code>],
          ['Customer', customer === null ? undefined : <code>{customer}</code>],
          ['What to do', advice],
        ]}
      />
      {repair !== null && (
        <Confirm
          summary="Repair…"
          label={`Repair ${name}…`}
          action={`${path}/repair`}
          text={repair === 'assign' ? 'Assign the customer' : 'Read the subscription again'}
        >
          <input type="hidden" name="mismatch" value={name} />
          <p>The user gets the plan that Stripe reports, or loses a plan that has ended there.</p>
        </Confirm>
      )}
    </li>
  )
}

type DuplicatesProps = Pick<BillingReport, 'duplicates'> & { readonly path: string }

function Duplicates({ path, duplicates }: DuplicatesProps) {
  return (
    <Card id="duplicates" title="Customers with two subscriptions">
      {duplicates.length === 0 && <p>Nobody pays for two subscriptions.</p>}
      <ul class="items">
        {duplicates.map(({ id, userId, email, plan, status, periodEnd }) => (
          <li class="card item">
            <div class="item-head">
              <h3>{email}</h3>
              <span class="badge near">{status.replaceAll('_', ' ')}</span>
            </div>
            <p>
              Also pays for {plan}: <code>{id}</code>, until <Time at={periodEnd} precision="day" />
            </p>
            <Confirm
              summary="End the second subscription…"
              label={`End the second subscription of ${email}…`}
              action={`${path}/duplicates/end`}
              text="End it now"
            >
              <input type="hidden" name="user" value={userId} />
              <p>It ends at once, and its unused time is credited to the customer.</p>
            </Confirm>
          </li>
        ))}
      </ul>
    </Card>
  )
}
