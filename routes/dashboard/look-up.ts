import type { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { LookUp } from '../../pages/dashboard/look-up/look-up.tsx'
import type { Outcome } from '../../pages/outcome.tsx'
import { readTyped } from '../pages/home.ts'
import type { PageAnswer } from '../pages/page.ts'
import { mapHrefs } from '../pages/page-assets.ts'
import { showPage } from './request/answer.ts'
import { errorForPage } from './request/call-api.ts'
import type { UserVisit } from './request/visit.ts'

export async function showLookUp(visit: UserVisit): Promise<PageAnswer> {
  const { base } = visit.instance
  const typed = readTyped(visit.c) ?? ''
  const { status, ...answered } = await answerTyped(visit, typed)
  const maps = await mapHrefs(base)
  const content = LookUp({ base, maps, typed, ...answered })
  return showPage(visit, { title: 'Look up', content, status })
}

interface Answered {
  readonly status: number
  readonly outcome: Outcome | null
  readonly error?: string
}

/** Checks the address first, because the API would charge for an invalid one. */
async function answerTyped({ callApi }: UserVisit, typed: string): Promise<Answered> {
  if (typed === '') return { status: 200, outcome: null }
  const address = parseAddress(typed)
  if (address === null) return { status: 400, outcome: { kind: 'invalid', text: typed } }
  try {
    const result = await callApi('locateAddress', {
      params: { ipAddress: address.text },
      query: {},
    })
    // safe: without `fields` the answer is a whole result
    return { status: 200, outcome: { kind: 'located', result: result as GeolocationResult } }
  } catch (error) {
    const { status, message } = errorForPage(error)
    return { status, outcome: null, error: `${message}.` }
  }
}
