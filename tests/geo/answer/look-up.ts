import assert from 'node:assert/strict'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { NOON, type TestApp } from '../../support/helpers.ts'
import type { Person } from '../../support/scene/person.ts'
import type { SendOptions } from '../../support/scene/send.ts'

export const LONDON = '81.2.69.160'

/** Looks an address up, as `person.lookUp` does. `notIncluded`: what the answer says that it leaves out. */
export async function lookUp(person: Person, address = LONDON, options?: SendOptions) {
  const { status, body, headers } = await person.lookUp(address, options)
  const result = v.parse(GeolocationResult, body)
  return { status, result, notIncluded: headers.get('not-included') }
}

/** The answer as if it were that to another request. */
export function answerTo(requestId = '', { meta, ...answer }: GeolocationResult) {
  return { ...answer, meta: { ...meta, requestId } }
}

/** Somebody who has used up the month. */
export async function overCap(app: TestApp): Promise<Person> {
  const free = app.user('free')
  const key = await free.key({ plan: 'free' })
  const caller = app.services.keys.find(key, NOON) ?? assert.fail()
  const { monthlyCap } = app.services.plans.free
  app.services.meters.open({ ...caller, key: caller }, NOON).count(monthlyCap)
  return free
}

/** The results of a batch. */
export async function lookUpAll(person: Person, body: object): Promise<GeolocationResult[]> {
  const answer = await person.send('POST', '/v1/ip/batch', body)
  return v.parse(v.object({ results: v.array(GeolocationResult) }), answer.body).results
}
