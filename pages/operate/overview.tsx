import { Card, sizeOf } from '../dashboard/parts/card.tsx'
import { PostButton } from '../dashboard/parts/form.tsx'
import { count, counted } from '../dashboard/parts/format.ts'
import { money } from '../dashboard/parts/money.ts'
import { Time } from '../dashboard/parts/time.tsx'
import { type DoctorFinding, Findings } from './findings.tsx'

export interface OverviewOfAllProps {
  readonly base: string
  readonly findings: readonly DoctorFinding[]
  /** ISO 8601; null: not since the start of the server. */
  readonly doctorRanAt: string | null
  /** Requests of known callers by UTC day, and how many answers of both days had status 5xx. */
  readonly traffic: { readonly today: number; readonly yesterday: number; readonly errors: number }
  readonly signUps: { readonly day: number; readonly week: number; readonly month: number }
  /** null: this service sells nothing. */
  readonly revenue: Revenue | null
}

interface Revenue {
  readonly paid: number
  readonly trials: number
  readonly pastDue: number
  /** In the smallest unit of each currency. */
  readonly monthly: ReadonlyMap<string, number>
  /** Paid subscriptions whose price is not known. */
  readonly unpriced: number
}

const URGENCY = { wrong: 0, warning: 1, ok: 2 } as const

/** How much goes on, whether all is well, and what to do if not. */
export function OverviewOfAll({ base, findings, doctorRanAt, ...figures }: OverviewOfAllProps) {
  const isWell = ({ state }: DoctorFinding) => state === 'ok'
  const problems = findings
    .filter((finding) => !isWell(finding))
    .toSorted((one, other) => URGENCY[one.state] - URGENCY[other.state])
  return (
    <>
      <Figures base={base} {...figures} />
      <Card
        id="well"
        title={
          problems.length === 0
            ? 'All is well'
            : `${counted(problems.length, 'thing needs', 'things need')} your attention`
        }
      >
        {problems.length > 0 && <Findings base={base} findings={problems} />}
        <details>
          <summary>What is fine</summary>
          <Findings findings={findings.filter(isWell)} />
        </details>
        <Doctor base={base} ranAt={doctorRanAt} />
      </Card>
    </>
  )
}

/** The slower checks, which the doctor alone makes. */
function Doctor({ base, ranAt }: { readonly base: string; readonly ranAt: string | null }) {
  return (
    <>
      <p class="soft">
        The doctor also checks the database, the clock, Stripe and the mail server. It last ran:{' '}
        <Time at={ranAt} />
      </p>
      <PostButton action={`${base}/app/operate/system/doctor`} text="Run the doctor" kind="quiet" />
    </>
  )
}

type FiguresProps = Pick<OverviewOfAllProps, 'base' | 'traffic' | 'signUps' | 'revenue'>

function Figures({ base, traffic, signUps, revenue }: FiguresProps) {
  const size = sizeOf(count(traffic.today), count(signUps.day))
  return (
    <div class={revenue === null ? 'tiles of-three' : 'tiles of-four'}>
      <Card id="requests" title="Requests today" size={size}>
        <p class="figure">{count(traffic.today)}</p>
        <p class="soft">{count(traffic.yesterday)} yesterday</p>
        <a href={`${base}/app/operate/usage`}>Usage</a>
      </Card>
      <Card id="sign-ups" title="New accounts" size={size}>
        <p class="figure">{count(signUps.day)}</p>
        <p class="soft">
          in 24 hours, {count(signUps.week)} in 7 days, {count(signUps.month)} in 30
        </p>
        <a href={`${base}/app/operate/people`}>People</a>
      </Card>
      <Card id="errors" title="Server errors since yesterday">
        <p class="figure">{count(traffic.errors)}</p>
        <p class="soft">Answers with status 5xx to known callers</p>
        <a href={`${base}/app/operate/usage?split=status`}>By status</a>
      </Card>
      {revenue !== null && (
        <Card id="revenue" title="Subscriptions, a month">
          <p class="figure">{revenueText(revenue)}</p>
          <p class="soft">{subscriptionsText(revenue)}</p>
          <a href={`${base}/app/operate/billing`}>Billing</a>
        </Card>
      )}
    </div>
  )
}

function revenueText({ monthly, unpriced }: Revenue): string {
  const amounts = [...monthly].map(([currency, amount]) => money(Math.round(amount), currency))
  if (amounts.length > 0) return amounts.join(' + ')
  return unpriced > 0 ? '–' : '0'
}

/** Such as `12 paid, 1 of them past due; 3 trials; before discounts and tax`. */
function subscriptionsText({ paid, pastDue, trials, unpriced }: Revenue): string {
  const late = pastDue > 0 ? `, ${count(pastDue)} of them past due` : ''
  const free = trials > 0 ? `; ${counted(trials, 'trial', 'trials')}` : ''
  const unknown = unpriced > 0 ? `; the price of ${count(unpriced)} is not known` : ''
  return `${count(paid)} paid${late}${free}${unknown}; before discounts and tax`
}
