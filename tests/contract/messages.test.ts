import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedScene } from '../support/scene/scene.ts'

let key: string
let publishable: string
const app = sharedScene({}, async () => {
  key = await app.makeKey()
  publishable = await app.makeKey({ type: 'publishable', origins: ['https://app.example'] })
})

const BATCH = ['POST', '/v1/ip/batch'] as const
const SUMMARY = ['POST', '/v1/ip/summary'] as const
const BUY = ['POST', '/v1/billing/subscription'] as const
const RUM = '/v1/telemetry/rum/summary'
const IPS = { ips: ['81.2.69.160'] }

type Mistake = readonly [method: string, path: string, body: unknown, message: RegExp]

const IN_BODIES: readonly Mistake[] = [
  [...BATCH, { ...IPS, field: ['location.city'] }, /^field: is not a field of this request$/],
  [...SUMMARY, { ...IPS, fields: ['location.city'] }, /^fields: is not a field of this request$/],
  [
    ...BATCH,
    { ...IPS, include: ['foo'] },
    /"foo" cannot be included; network, privacy, confidence, registered, country can$/,
  ],
  [...SUMMARY, { ...IPS, include: ['network'] }, /"network" cannot be included; privacy can$/],
  [
    ...BATCH,
    { ...IPS, fields: ['city'] },
    /"city" is not a field .* did you mean location\.city\?$/,
  ],
  [...BATCH, { ...IPS, fields: ['zzz'] }, /"zzz" is not a field of a result$/],
  [...BATCH, ['81.2.69.160'], /^The body must be an object, not a list$/],
  [...BATCH, '', /^The body is empty$/],
  [...BUY, { planId: 'gold' }, /does not exist; there are .*starter, pro/],
  ['POST', '/v1/billing/tax-ids', { type: '!', value: 'x' }, /^type: must be .* such as eu_vat$/],
  ['DELETE', '/v1/account/me/keys', undefined, /answers GET, POST, HEAD, OPTIONS, not DELETE$/],
]

const IN_PATHS: readonly (readonly [path: string, message: RegExp])[] = [
  ['/v1/ip/81.2.69.160?fields=city', /did you mean location\.city\?$/],
  ['/v1/ip/81.2.69.160?feilds=location.city', /^feilds: is unknown, did you mean fields\?$/],
  ['/v1/asn/AS15169?familly=4', /^familly: .* did you mean family\?$/],
  ['/v1/account/me/audit?serach=x', /^serach: .* did you mean search\?$/],
  [`${RUM}?domian=a.example`, /did you mean domain\?$/],
  ['/v1/asn/foo', /such as AS15169$/],
  ...['abc', '', '0', '101', '1.5', '1000000000'].map(
    (limit) =>
      [`/v1/account/me/audit?limit=${limit}`, /^limit: .* whole number from 1 to 100$/] as const,
  ),
  ['/v1/asn/AS15169?limit=1001', /^limit: must be a whole number from 1 to 1000$/],
  ['/v1/account/me/audit?offset=-1', /^offset: must be a whole number from 0 to 999999999$/],
  [`${RUM}?domain=a.example&from=2026-01-01`, /^from: must be an hour, such as 2026-01-15T09$/],
  [`${RUM}?domain=a.example&country=GBR`, /^country: must be two letters, such as GB$/],
  ['/v1/ips/81.2.69.160', /^No such path; \/docs lists all$/],
]

const MISTAKES: readonly Mistake[] = [
  ...IN_BODIES,
  ...IN_PATHS.map(([path, message]) => ['GET', path, undefined, message] as const),
]

describe('the message of a refusal', () => {
  for (const [method, path, body, message] of MISTAKES) {
    const given = body === undefined ? '' : ` ${JSON.stringify(body)}`
    it(`says what to do: ${method} ${path}${given}`, async () => {
      const answer = await app.send(method, path, { key, ...(body !== undefined && { body }) })
      assert.match(messageOf(answer.body), message)
    })
  }

  it('says why a publishable key is refused', async () => {
    const messageFor = async (headers: Record<string, string>, path = '/v1/ip/81.2.69.160') =>
      messageOf((await app.send('GET', path, { key: publishable, headers })).body)
    assert.match(await messageFor({}), /only on pages .* secret key/)
    const elsewhere = await messageFor({ origin: 'https://evil.example' })
    assert.match(elsewhere, /"https:\/\/evil\.example" is not an origin of this key/)
    const account = await messageFor({ origin: 'https://app.example' }, '/v1/account/me')
    assert.match(account, /publishable key only looks up addresses/)
  })
})

function messageOf(body: unknown): string {
  assert.ok(typeof body === 'object' && body !== null && 'error' in body)
  const { error } = body
  assert.ok(typeof error === 'object' && error !== null && 'message' in error)
  return String(error.message)
}
