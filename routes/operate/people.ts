import * as v from 'valibot'
import { readPeople } from '../../lib/accounts/people.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { planInEffect } from '../../lib/config/entitlement.ts'
import { textUpTo } from '../../lib/contract/common.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { EmailAddress, normaliseEmail } from '../../lib/parts/email-address.ts'
import { fieldError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import type { PageProps } from '../../pages/dashboard/parts/notice.tsx'
import { NewPerson } from '../../pages/operate/new-person.tsx'
import { CreateLink, People, STATUS_LABELS } from '../../pages/operate/people.tsx'
import { redirectTo, showOperatePage } from '../dashboard/request/answer.ts'
import { readForm } from '../dashboard/request/form.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, auditForUser } from './action.ts'
import { splitPage } from './paging.ts'
import { offerPasswordLink } from './sign-in-actions.ts'

const PAGE_SIZE = 50

const EmailText = v.optional(textUpTo(320), '')

const PATH = '/app/operate/people'
/** The fields of the form, by their names in the schema. */
const FIELDS = { email: 'newEmail', plan: 'newPlan' }

/** The list, and the page of a new account. No person has its path, though ids may be any text. */
export const peopleRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showPeople(visit) },
  { method: 'get', path: `${PATH}/new/account`, answer: (visit) => showNewPerson(visit) },
  ...actionRoutes(PATH, showNewPerson, { '': createPerson }, FIELDS),
]

/** Shows a page of the users whose addresses begin with the text that was typed. */
async function showPeople(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { plans, storage } = services
  const { base } = instance
  const { after, ...filter } = readPeopleFilter(visit)
  const wanted = { ...filter, after, limit: PAGE_SIZE + 1 }
  const { rows, last } = splitPage(await readPeople(storage.longReads, wanted), PAGE_SIZE)
  const content = People({
    base,
    filter,
    plans: plans.assignable,
    people: rows.map((person) => ({ ...person, plan: planInEffect(person, plans).name })),
    next: last?.email ?? null,
    done: c.req.query('done'),
  })
  return showOperatePage(visit, { title: 'People', content, action: CreateLink({ base }) })
}

async function showNewPerson(
  visit: UserVisit,
  shown: Pick<PageProps, 'error' | 'problem'> = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { plans, config } = services
  const form = status === 200 ? null : await readForm(c)
  const content = NewPerson({
    base: instance.base,
    plans: plans.assignable,
    invitation: config.authUrl === undefined ? inviteBy(services) : 'auth service',
    typed: { email: form?.text('newEmail') ?? '', plan: form?.text('newPlan') ?? plans.free.id },
    ...shown,
  })
  return showOperatePage(visit, { title: 'Create account', content, status })
}

/** Whom the query of the page, or of its file, asks for. */
export function readPeopleFilter({ services, c }: UserVisit) {
  return parse(querySchema(services.plans.assignable), c.req.query())
}

function inviteBy({ mails }: UserVisit['services']) {
  return mails.isOn ? 'mail' : 'link'
}

/** Creates an account without a password, and offers its owner a link to choose one. */
async function createPerson(visit: UserVisit): Promise<`/app${string}` | PageAnswer> {
  const { services, exchange, c } = visit
  const { db, plans, config } = services
  const form = await readForm(c)
  const typed = { email: form.text('newEmail'), plan: form.text('newPlan') }
  const { email, plan } = parse(newPersonSchema(plans.assignable), typed)
  const user = newUser({ email, plan, now: exchange.now })
  const note = { action: 'create_user', detail: plan } as const
  const rows = auditForUser(visit, { id: user.id, name: user.email }, note)
  if (!(await runInTransaction(db, [insertUser(db, user), ...rows]))) {
    throw fieldError('email', 'belongs to an account already')
  }
  const cookies = config.authUrl === undefined ? await offerPasswordLink(visit, user, 'invite') : []
  return redirectTo(visit, `${PATH}/${user.id}?done=created`, cookies)
}

function newPersonSchema(plans: readonly { readonly id: string }[]) {
  const ids = plans.map(({ id }) => id)
  return v.object({ email: EmailAddress, plan: v.picklist(ids, 'is not a plan') })
}

function querySchema(plans: readonly { readonly id: string }[]) {
  const ids = ['', ...plans.map(({ id }) => id)]
  return v.object({
    search: v.pipe(EmailText, v.transform(normaliseEmail)),
    plan: v.optional(v.picklist(ids, 'is not a plan'), ''),
    status: v.optional(v.picklist(keysOf(STATUS_LABELS), 'is not a status'), 'all'),
    after: EmailText,
  })
}

function keysOf<Key extends string>(labels: Readonly<Record<Key, string>>): Key[] {
  // safe: the labels are constants with no other keys
  return Object.keys(labels) as Key[]
}
