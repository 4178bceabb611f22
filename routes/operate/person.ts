import * as v from 'valibot'
import { readAuditPage } from '../../lib/accounts/audit-page.ts'
import { findPerson, type Person } from '../../lib/accounts/people.ts'
import { findSecondFactor } from '../../lib/accounts/second-factor/second-factor.ts'
import { listSites } from '../../lib/accounts/sites.ts'
import { toEntitlement } from '../../lib/config/entitlement.ts'
import { DEMO_PLAN } from '../../lib/config/plans.ts'
import { normaliseEmail } from '../../lib/parts/email-address.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import { listKeysWithLastUse } from '../../lib/usage/last-used.ts'
import { Confirmation } from '../../pages/operate/confirmation.tsx'
import { PersonPage, type PersonProps } from '../../pages/operate/person.tsx'
import { personPath } from '../../pages/operate/person-view.ts'
import { redirectTo, showOperatePage } from '../dashboard/request/answer.ts'
import { readForm } from '../dashboard/request/form.ts'
import { catchErrors } from '../dashboard/request/form-routes.ts'
import { findShown } from '../dashboard/request/shown-secret.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { splitPage } from './paging.ts'
import { PERSON_ACTIONS, type PersonAction } from './person-actions.ts'
import { SIGN_IN_ACTIONS } from './sign-in-actions.ts'

/** Of the keys and sites. */
const PAGE_SIZE = 50

const LIST = '/app/operate/people'
const PERSON = `${LIST}/:id` as const
const SHOWN_ENTRIES = 20

const Offset = v.optional(
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, 'is not a page'), v.transform(Number)),
  '0',
)
/** How many keys and sites come before those that the page shows. */
const Offsets = v.object({ keys: Offset, sites: Offset })

/** The page of each person, and for each action a question (GET) and its answer (POST). */
export const personRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PERSON, answer: (visit) => showPerson(visit) },
  ...Object.entries({ ...PERSON_ACTIONS, ...SIGN_IN_ACTIONS }).flatMap(([name, action]) => {
    const path = `${PERSON}/${name}` as const
    const ask = catchErrors(showPerson, (visit) => confirm(visit, action))
    const act = catchErrors(showPerson, (visit) => perform(visit, action, name))
    return [
      { method: 'get', path, answer: ask },
      { method: 'post', path, answer: act },
    ] as const
  }),
]

async function confirm(visit: UserVisit, action: PersonAction): Promise<PageAnswer> {
  const person = await getChangeable(visit)
  const to = visit.c.req.query('to') ?? ''
  const { title, ...question } = action.ask({ visit, person, to })
  const { base } = visit.instance
  const paths = { action: `${base}${visit.c.req.path}`, back: personPath(base, person.id) }
  const content = Confirmation({ ...question, ...paths, to, email: person.email })
  return showOperatePage(visit, { title, content })
}

async function perform(visit: UserVisit, action: PersonAction, name: string) {
  const person = await getChangeable(visit)
  const form = await readForm(visit.c)
  const request = { visit, person, to: form.text('to') }
  // Throws if it cannot be done, as before the form was shown.
  const { asksAddress } = action.ask(request)
  if (asksAddress === true && normaliseEmail(form.text('email')) !== person.email) {
    throw new ApiError('BAD_REQUEST', 'The address that you typed differs: nothing was changed')
  }
  const cookies = (await action.perform(request)) ?? []
  if (name === 'delete') return redirectTo(visit, `${LIST}?done=deleted`)
  return redirectTo(visit, `${LIST}/${encodeURIComponent(person.id)}?done=${name}`, cookies)
}

async function getPerson({ services, c }: UserVisit): Promise<Person> {
  const person = await findPerson(services.db, c.req.param('id') ?? '')
  if (person === undefined) throw new ApiError('NOT_FOUND', 'No such user')
  return person
}

/** Nobody signs in to the landing page's own account, or may change it. */
async function getChangeable(visit: UserVisit): Promise<Person> {
  const person = await getPerson(visit)
  if (!isBuiltIn(visit, person)) return person
  throw new ApiError('BAD_REQUEST', 'This account belongs to the landing page')
}

function isBuiltIn({ services }: UserVisit, { assignedPlan }: Person): boolean {
  return assignedPlan === DEMO_PLAN.id && services.config.demo
}

async function showPerson(
  visit: UserVisit,
  shown: Pick<PersonProps, 'error'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance, me, c } = visit
  const person = await getPerson(visit)
  const content = PersonPage({
    base: instance.base,
    person,
    isSelf: person.id === me.id,
    isBuiltIn: isBuiltIn(visit, person),
    plans: services.plans.assignable,
    keepsSessions: services.config.authUrl === undefined,
    isMailed: services.mails.isOn && services.config.authUrl === undefined,
    link: await findShown(visit, person.id, v.string()),
    hasSecondFactor: (await findSecondFactor(services, person.id)) !== null,
    done: c.req.query('done'),
    ...(await readAccount(services, person, parse(Offsets, c.req.query()))),
    ...shown,
  })
  return showOperatePage(visit, { title: person.email, content, status })
}

async function readAccount(
  services: Services,
  person: Person,
  offsets: v.InferOutput<typeof Offsets>,
) {
  const { db, storage, plans, ledger, meters, now } = services
  const { id, assignedPlan, subscribed } = person
  const stored = {
    assignedPlan,
    subscribed,
    overagePrice: null,
    spendingCap: null,
    usageMails: null,
  }
  const { plan, paid } = toEntitlement(stored, plans)
  const partAt = (offset: number) => ({ offset, limit: PAGE_SIZE + 1 })
  const [keys, sites, { logs }] = await Promise.all([
    listKeysWithLastUse(services, id, partAt(offsets.keys)),
    listSites(db, id, partAt(offsets.sites)),
    readAuditPage(storage.longReads, id, { limit: SHOWN_ENTRIES, offset: 0 }),
  ])
  const requests = await ledger.betweenFlushes(async () => {
    await meters.refresh({ userId: id, paid }, now())
    return meters.periodRequests({ userId: id, paid }, now())
  })
  const shown = { keys: toPage(keys, offsets, 'keys'), sites: toPage(sites, offsets, 'sites') }
  return { plan, isPaid: paid !== null, ...shown, entries: logs, requests }
}

/** The rows that are shown, and the query of the page with the next ones, which keeps the place in the other list. */
function toPage<Row>(
  found: readonly Row[],
  offsets: v.InferOutput<typeof Offsets>,
  list: keyof typeof offsets,
) {
  const { rows, last } = splitPage(found, PAGE_SIZE)
  if (last === undefined) return { rows, next: null }
  const at = { ...offsets, [list]: offsets[list] + PAGE_SIZE }
  return { rows, next: { keys: String(at.keys), sites: String(at.sites) } }
}
