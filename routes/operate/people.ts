import * as v from 'valibot'
import { readPeople } from '../../lib/accounts/people.ts'
import { planInEffect } from '../../lib/config/entitlement.ts'
import { textUpTo } from '../../lib/contract/common.ts'
import { parse } from '../../lib/parts/parse.ts'
import { People, STATUS_LABELS } from '../../pages/operate/people.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { splitPage } from './paging.ts'

const PAGE_SIZE = 50

const EmailText = v.optional(textUpTo(320), '')

/** Shows a page of the users whose addresses begin with the text that was typed. */
export async function showPeople(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const { plans, storage } = services
  const { after, ...filter } = parse(querySchema(plans.list), c.req.query())
  const wanted = { ...filter, after, limit: PAGE_SIZE + 1 }
  const { rows, last } = splitPage(await readPeople(storage.longReads, wanted), PAGE_SIZE)
  const content = People({
    base: instance.base,
    filter,
    plans: plans.list,
    people: rows.map((person) => ({ ...person, plan: planInEffect(person, plans).name })),
    next: last?.email ?? null,
    done: c.req.query('done'),
  })
  return showOperatePage(visit, { title: 'People', content })
}

function querySchema(plans: readonly { readonly id: string }[]) {
  const ids = ['', ...plans.map(({ id }) => id)]
  return v.object({
    search: v.pipe(EmailText, v.trim(), v.toLowerCase()),
    plan: v.optional(v.picklist(ids, 'is not a plan'), ''),
    status: v.optional(v.picklist(keysOf(STATUS_LABELS), 'is not a status'), 'all'),
    after: EmailText,
  })
}

function keysOf<Key extends string>(labels: Readonly<Record<Key, string>>): Key[] {
  // safe: the labels are constants with no other keys
  return Object.keys(labels) as Key[]
}
