import { type AnswerOptions, createFindExtras } from '../../../lib/geo/answer/shape.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { Meter } from '../../../lib/limits/meter.ts'
import { type Address, parseAddress } from '../../../lib/parts/net/address.ts'
import { mapInSlices } from '../../../lib/parts/time-slices.ts'
import type { Services } from '../../../lib/services/services.ts'

/** What look-ups of lists need. */
export type Parts = Pick<Services, 'geo'>

interface AddressesCall {
  readonly body: { readonly ips: readonly string[] } & Pick<AnswerOptions, 'fields' | 'include'>
  readonly now: number
  readonly meter: Pick<Meter, 'left' | 'count'>
}

interface Writer<Result> {
  /** `json` is a result with what the body includes; over the cap it is degraded. */
  readonly located: (json: string, address: Address, degraded: boolean) => Result
  readonly invalid: (text: string) => Result
}

/**
 * Locates the addresses of a body in order, in slices. Each valid address counts as one request towards the
 * monthly cap, whether it is found or not. Results over the cap are degraded.
 */
export async function locateAll<Result>(
  { geo }: Parts,
  { body, now, meter }: AddressesCall,
  { located, invalid }: Writer<Result>,
): Promise<{ readonly results: readonly Result[]; readonly degraded: boolean }> {
  const { ips } = body
  const addresses = ips.map(parseAddress)
  const findExtras = createFindExtras(geo, body, { degraded: false })
  const left = meter.left()
  const count = addresses.filter((address) => address !== null).length
  // Counted before the first await, so that a simultaneous batch cannot use the same rest of the cap.
  meter.count(count)
  let done = 0
  const results = await mapInSlices(addresses, (address, at) => {
    if (address === null) return invalid(ips[at] ?? '')
    const degraded = done >= left
    done += 1
    const extras = degraded ? undefined : findExtras?.(address)
    const { json, precision } = writeResult(address, geo.find(address), { now, degraded, extras })
    const meta = `"meta":{"precision":"${precision}","degraded":${degraded}}`
    return located(`{${json},${meta}}`, address, degraded)
  })
  return { results, degraded: count > left }
}
