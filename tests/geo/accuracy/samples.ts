import type { Answer, Sample } from '../../../lib/geo/accuracy/answer.ts'
import { ANY_ADDRESS } from '../fake-database.ts'

/** A sample in Germany, unless given otherwise. */
export const sample = (given: Partial<Sample> = {}): Sample => ({
  network: { address: ANY_ADDRESS, prefix: 32 },
  prefix: '192.0.2.1/32',
  country: 'DE',
  region: undefined,
  city: undefined,
  coordinates: undefined,
  group: 'one',
  address: ANY_ADDRESS,
  ...given,
})

/** The answer Germany, unless given otherwise. */
export const answer = (given: Partial<Answer> = {}): Answer => ({
  country: 'DE',
  region: undefined,
  city: undefined,
  timezone: undefined,
  basis: undefined,
  ...given,
})
