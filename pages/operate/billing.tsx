import { Card } from '../dashboard/parts/card.tsx'
import { Option, Select } from '../dashboard/parts/field.tsx'
import { Confirm, PostButton } from '../dashboard/parts/form.tsx'
import { counted } from '../dashboard/parts/format.ts'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { FactList } from '../fact-list.tsx'
import { JobStatus, type JobView } from './job-status.tsx'

export interface ShownMismatch {
  readonly kind: string
  readonly user: string | null
  readonly customer: string | null
  readonly detail: string
  readonly canRepair: boolean
  /** What to do if it cannot be repaired here. */
  readonly advice: string | undefined
}

/** Times are ISO 8601. */
export interface BillingReport {
  readonly comparison: JobView
  /** How many mismatches the last comparison has repaired. */
  readonly repaired: number
  /** null: no comparison has succeeded since the start of the server. */
  readonly mismatches: readonly ShownMismatch[] | null
}

interface BillingProps extends PageProps {
  /** null: billing is not configured. */
  readonly report: BillingReport | null
  /** Newest first, such as 2026-01. */
  readonly months: readonly string[]
}

export function OperateBilling({ base, report, months, error }: BillingProps) {
  const path = `${base}/app/operate/billing`
  return (
    <>
      <Result error={error} />
      {report === null ? (
        <Notice kind="hint">
          Billing is not configured: STRIPE_SECRET_KEY is not set, so nothing is sold.
        </Notice>
      ) : (
        <>
          <Mismatches path={path} report={report} />
          <Invoices base={base} months={months} />
        </>
      )}
    </>
  )
}

function Invoices({ base, months }: Pick<BillingProps, 'base' | 'months'>) {
  return (
    <Card id="invoices" title="Invoices">
      <p>All invoices that were made in a month, for your accountant, as Stripe has them.</p>
      <form class="plan-choice" method="get" action={`${base}/app/operate/invoices.csv`}>
        <Select name="month" label="Month (UTC)">
          {months.map((month) => (
            <Option value={month} text={month} chosen={months[1] ?? ''} />
          ))}
        </Select>
        <button type="submit" class="quiet">
          Download as CSV
        </button>
      </form>
    </Card>
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
  const canRepair = mismatches.some(({ canRepair: can }) => can)
  return (
    <>
      <p>{counted(mismatches.length, 'mismatch', 'mismatches')}.</p>
      {canRepair && (
        <Confirm summary="Repair…" action={`${path}/repair`} text="Repair">
          <p>Users get the plans that they have at Stripe. Plans that have ended there end here.</p>
        </Confirm>
      )}
      <ul class="items">
        {mismatches.slice(0, SHOWN).map((mismatch) => (
          <MismatchItem {...mismatch} />
        ))}
      </ul>
      {mismatches.length > SHOWN && <p>The command billing lists the others.</p>}
    </>
  )
}

function MismatchItem({ kind, user, customer, detail, canRepair, advice }: ShownMismatch) {
  return (
    <li class="card item">
      <div class="item-head">
        <h3>{detail}</h3>
        <span class={`badge ${canRepair ? 'near' : 'error'}`}>{kind}</span>
      </div>
      <FactList
        facts={[
          ['User', user === null ? undefined : <code>{user}</code>],
          ['Customer', customer === null ? undefined : <code>{customer}</code>],
          ['What to do', advice],
        ]}
      />
    </li>
  )
}
