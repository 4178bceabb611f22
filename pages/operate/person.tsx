import type { Plan } from '../../lib/config/plans.ts'
import type { AuditLogEntry } from '../../lib/contract/account/account-schemas.ts'
import { AuditEntry } from '../dashboard/audit/audit-entry.tsx'
import { Copyable } from '../dashboard/parts/copyable.tsx'
import { Option, Select } from '../dashboard/parts/field.tsx'
import { count, isoTime } from '../dashboard/parts/format.ts'
import { Given } from '../dashboard/parts/given.tsx'
import { Block, Group } from '../dashboard/parts/group.tsx'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { FactList } from '../fact-list.tsx'
import { labelOf } from '../facts.ts'
import { Table } from '../table.tsx'
import { NextPage, type NextPageProps } from './matches.tsx'
import { PersonBadges } from './person-badges.tsx'
import { type PersonView, personPath } from './person-view.ts'

interface KeyView {
  readonly prefix: string
  readonly name: string
  readonly type: string
  readonly lastUsedAt: number | null
  /** null: never. */
  readonly expiresAt: number | null
}

interface SiteView {
  readonly name: string
  readonly createdAt: number
  /** null: no valid proof. */
  readonly provenAt: number | null
}

/** A page of a list, and the query of the next one; null: there is none. */
interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly next: NextPageProps['query']
}

export interface PersonProps extends PageProps, PersonActionsProps {
  /** Whether it is the account of the look-up form on the first page. */
  readonly isBuiltIn: boolean
  /** A new link to choose a password, which only this operator sees; null: none. */
  readonly link: string | null
  /** Whether such links are mailed. */
  readonly isMailed: boolean
  /** The plan in effect. */
  readonly plan: Plan
  /** Whether a subscription gives the plan. */
  readonly isPaid: boolean
  /** Answered requests of the current period. */
  readonly requests: number
  readonly keys: ListPage<KeyView>
  readonly sites: ListPage<SiteView>
  /** The newest of the audit log. */
  readonly entries: readonly AuditLogEntry[]
}

const DONE: Readonly<Record<string, string>> = {
  plan: 'Plan set.',
  disable: 'Account disabled.',
  enable: 'Account enabled.',
  'sign-out': 'All sessions ended.',
  role: 'Role changed.',
  'second-factor': 'Second factor turned off.',
}

/** What was done about the password, if that was the last action. */
function passwordDone({ isMailed, done = '' }: PersonProps): string | undefined {
  if (done !== 'created' && done !== 'link') return undefined
  const sent = isMailed ? 'A link to choose a password is on its way.' : ''
  return (done === 'created' ? `Account created. ${sent}` : sent) || undefined
}

export function PersonPage(props: PersonProps) {
  const { base, person, isBuiltIn, keys, sites, entries, done = '', error } = props
  const path = personPath(base, person.id)
  return (
    <>
      <Result error={error} done={DONE[done] ?? passwordDone(props)} />
      {props.link !== null && <PasswordLink link={props.link} />}
      {isBuiltIn && (
        <Notice kind="hint">
          This account is built in: the form of the first page looks up addresses with its key.{' '}
          <code>MERIDIAN_DEMO=0</code> turns it off.
        </Notice>
      )}
      <Account {...props} />
      <PlanGroup {...props} />
      {!isBuiltIn && <PersonActions {...props} />}
      <Group id="keys" title="Keys">
        {keys.rows.length === 0 ? (
          <p class="soft">This person has made no key yet.</p>
        ) : (
          <Keys keys={keys.rows} />
        )}
        <NextPage path={path} query={keys.next} />
      </Group>
      <Group id="sites" title="Sites">
        {sites.rows.length === 0 ? (
          <p class="soft">This person measures no site yet.</p>
        ) : (
          <Sites sites={sites.rows} />
        )}
        <NextPage path={path} query={sites.next} />
      </Group>
      <Group id="entries" title="Audit log">
        {entries.length === 0 ? (
          <p class="soft">Nothing was done in this account yet.</p>
        ) : (
          <ol class="entries">
            {entries.map((entry) => (
              <AuditEntry entry={entry} />
            ))}
          </ol>
        )}
      </Group>
    </>
  )
}

function PasswordLink({ link }: { readonly link: string }) {
  return (
    <Notice kind="done">
      <p>
        Give this link to the person alone: it is valid once, for an hour, and shown for ten
        minutes.
      </p>
      <Copyable id="password-link" text={link} />
    </Notice>
  )
}

function Account({ person, hasSecondFactor }: PersonProps) {
  const { id, name, createdAt } = person
  return (
    <Group id="account" title="Account">
      <PersonBadges person={person} />
      <FactList
        facts={[
          ['Name', name ? <Given text={name} /> : undefined],
          ['Since', <Time at={isoTime(createdAt)} precision="day" />],
          ['Second factor', hasSecondFactor ? 'On' : undefined],
          ['Id', <code>{id}</code>],
        ]}
      />
    </Group>
  )
}

function PlanGroup(props: PersonProps) {
  const { person, plan, plans, isPaid, isBuiltIn, requests } = props
  const status = person.subscribed === null ? undefined : labelOf(person.subscribed.status)
  const assigned = plans.find(({ id }) => id === person.assignedPlan)
  return (
    <Group
      id="plan-title"
      title="Plan"
      help="An assigned plan applies while there is no subscription at Stripe."
    >
      <FactList
        facts={[
          [
            'Plan in effect',
            `${plan.name} (${isPaid ? `Stripe, ${status?.toLowerCase()}` : 'assigned'})`,
          ],
          ['Assigned plan', isPaid ? (assigned?.name ?? person.assignedPlan) : undefined],
          ['Subscription', isPaid ? undefined : status],
          ['Requests in this period', `${count(requests)} of ${count(plan.monthlyCap)}`],
        ]}
      />
      {!isBuiltIn && <PlanForm {...props} />}
    </Group>
  )
}

function Keys({ keys }: { readonly keys: readonly KeyView[] }) {
  return (
    <section class="wide stacked" tabindex={0} aria-label="Table of keys">
      <Table
        isStacked
        heads={['Key', 'Name', 'Type', 'Last used', 'Expires']}
        rows={keys.map(({ prefix, name, type, lastUsedAt, expiresAt }) => [
          <code>{prefix}…</code>,
          <Given text={name} />,
          labelOf(type),
          <Time at={isoTime(lastUsedAt)} />,
          <Time at={isoTime(expiresAt)} precision="day" />,
        ])}
      />
    </section>
  )
}

function Sites({ sites }: { readonly sites: readonly SiteView[] }) {
  return (
    <section class="wide stacked" tabindex={0} aria-label="Table of sites">
      <Table
        isStacked
        heads={['Site', 'Added', 'Proven']}
        rows={sites.map(({ name, createdAt, provenAt }) => [
          name,
          <Time at={isoTime(createdAt)} precision="day" />,
          <Time at={isoTime(provenAt)} precision="day" />,
        ])}
      />
    </section>
  )
}

interface PersonActionsProps {
  readonly base: string
  readonly person: PersonView
  /** Whether operators look at their own account. */
  readonly isSelf: boolean
  /** The plans that an operator can assign. */
  readonly plans: readonly Plan[]
  /** Whether sessions are kept here, not at an auth service. */
  readonly keepsSessions: boolean
  readonly hasSecondFactor: boolean
}

function PlanForm({ base, person, plans }: PersonActionsProps) {
  return (
    <form class="plan-choice" method="get" action={`${personPath(base, person.id)}/plan`}>
      <Select name="to" label="Assigned plan">
        {plans.map(({ id, name }) => (
          <Option value={id} text={name} chosen={person.assignedPlan} />
        ))}
      </Select>
      <button type="submit" class="quiet">
        Set the plan…
      </button>
    </form>
  )
}

/** What an operator can do. Each link leads to a page that asks first. */
function PersonActions(props: PersonActionsProps) {
  const { base, person, isSelf, keepsSessions, hasSecondFactor } = props
  const mayHelp = !isSelf && keepsSessions
  const path = personPath(base, person.id)
  const isOperator = person.role === 'operator'
  const isDisabled = person.disabledAt !== null
  const mayEnd = !isSelf && !isOperator
  const actions = [
    keepsSessions && <Ask href={`${path}/sign-out`} text="Sign out everywhere…" />,
    mayHelp && !isDisabled && <Ask href={`${path}/link`} text="Send a password link…" />,
    mayHelp && hasSecondFactor && (
      <Ask href={`${path}/second-factor`} text="Turn off the second factor…" />
    ),
    isDisabled && <Ask href={`${path}/enable`} text="Enable…" />,
    mayEnd && !isDisabled && <Ask href={`${path}/role?to=operator`} text="Make an operator…" />,
    !isSelf && isOperator && <Ask href={`${path}/role?to=user`} text="Remove the operator role…" />,
  ].filter(Boolean)
  return (
    <>
      {actions.length > 0 && (
        <Group id="access" title="Access" help="Help to sign in, and the role.">
          <div class="actions">{actions}</div>
        </Group>
      )}
      {mayEnd && <DangerZone path={path} isDisabled={isDisabled} />}
    </>
  )
}

function DangerZone({ path, isDisabled }: { readonly path: string; readonly isDisabled: boolean }) {
  return (
    <Group id="danger" title="Danger zone" kind="danger">
      {!isDisabled && (
        <Block id="disable" title="Disable the account">
          <p>Sessions end and keys stop working. No data is deleted.</p>
          <Ask href={`${path}/disable`} text="Disable…" kind="danger" />
        </Block>
      )}
      <Block id="delete" title="Delete the account">
        <p>Keys, sites and all data go for good.</p>
        <Ask href={`${path}/delete`} text="Delete…" kind="danger" />
      </Block>
    </Group>
  )
}

interface AskProps {
  readonly href: string
  readonly text: string
  readonly kind?: 'danger'
}

function Ask({ href, text, kind }: AskProps) {
  return (
    <a class={kind === undefined ? 'button quiet' : `button quiet ${kind}`} href={href}>
      {text}
    </a>
  )
}
