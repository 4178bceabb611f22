import { parseAddress } from '../../lib/address.ts'
import type { GeolocationResult } from '../../lib/contract/geolocation.ts'
import { LookUp } from '../../pages/dashboard/look-up.tsx'
import type { Outcome } from '../../pages/outcome.tsx'
import type { PageAnswer } from '../page.ts'
import { assetHref } from '../page-assets.ts'
import { showPage } from './answer.ts'
import { refusalOf } from './ask.ts'
import type { AppRoute, UserVisit } from './visit.ts'

export const lookUpRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: '/app/look-up', answer: showLookUp },
]

/** What a text may have that is typed in; more of it is not shown again. */
const MAX_TYPED = 100

async function showLookUp(visit: UserVisit): Promise<PageAnswer> {
  const { base } = visit.instance
  const typed = (visit.c.req.query('ip') ?? '').trim().slice(0, MAX_TYPED)
  const { status, ...answered } = await answerTyped(visit, typed)
  const world = await assetHref(base, 'world-map.svg')
  const content = LookUp({ base, world, typed, ...answered })
  return showPage(visit, { title: 'Look-up', content, status })
}

interface Answered {
  readonly status: number
  readonly outcome: Outcome | null
  readonly trouble?: string
}

/** What is no address is not asked for: it would be charged. */
async function answerTyped({ ask }: UserVisit, typed: string): Promise<Answered> {
  if (typed === '') return { status: 200, outcome: null }
  const address = parseAddress(typed)
  if (address === null) return { status: 400, outcome: { kind: 'invalid', text: typed } }
  try {
    const told = await ask('locateAddress', { params: { ipAddress: address.text }, query: {} })
    // safe: without `fields` the answer is a whole result
    return { status: 200, outcome: { kind: 'located', result: told as GeolocationResult } }
  } catch (error) {
    const { status, message } = refusalOf(error)
    return { status, outcome: null, trouble: message }
  }
}
