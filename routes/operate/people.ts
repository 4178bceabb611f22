import { readPeople } from '../../lib/accounts/people.ts'
import { normaliseEmail } from '../../lib/accounts/users.ts'
import { People } from '../../pages/operate/people.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'

const PAGE_SIZE = 50

export const peopleRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/operate/people', answer: showPeople },
]

async function showPeople(visit: UserVisit): Promise<PageAnswer> {
  const { services, instance, c } = visit
  const filter = { search: normaliseEmail(c.req.query('search') ?? '') }
  const after = c.req.query('after') ?? ''
  const wanted = { ...filter, after, limit: PAGE_SIZE + 1 }
  const found = await readPeople(services.storage.longReads, wanted)
  const people = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? (people.at(-1)?.email ?? null) : null
  const content = People({ base: instance.base, filter, people, next })
  return showOperatePage(visit, { title: 'People', content })
}
