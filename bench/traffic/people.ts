import * as v from 'valibot'
import { postJson } from '../../scripts/parts/post-json.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import type { Client } from './client.ts'

/** A user with a session, a key and a site, which is an origin. */
export type Person = Awaited<ReturnType<typeof addPerson>>

const PEOPLE = 50
const PAYING = 30
const PASSWORD = crypto.randomUUID()

/** Signs users up, and adds a key and a site for each. Some of the users buy a plan. */
export async function addPeople(url: string, double: StripeDouble): Promise<Person[]> {
  const people = await Array.fromAsync({ length: PEOPLE }, (_, n) => addPerson(url, double, n))
  await double.settled()
  return people
}

async function addPerson(url: string, double: StripeDouble, n: number) {
  const email = `person-${n}@example.com`
  const site = `https://site-${n}.example`
  const isPaying = n < PAYING
  const user = { name: 'Soak', email, password: PASSWORD }
  const from = { 'x-forwarded-for': `10.0.0.${n + 1}` }
  const { token: session } = await postJson(`${url}/api/auth/sign-up/email`, user, Token, from)
  const headers = { authorization: `Bearer ${session}` }
  const post = <Schema extends v.GenericSchema>(path: string, body: object, schema: Schema) =>
    postJson(url + path, body, schema, headers)
  const { rawKey: key } = await post('/v1/account/me/keys', { name: 'soak' }, NewKey)
  await post('/v1/account/me/sites', { name: site }, v.unknown())
  if (isPaying) {
    await post('/v1/billing/subscription', { planId: 'pro' }, v.unknown())
    const checkout = [...double.world.state.tables.sessions.values()].at(-1)
    double.payCheckout(checkout?.id ?? '', { card: 'pm_card_visa' })
  }
  return { email, session, key, site, isPaying }
}

/** Signs in, reads the account and signs out. `from` is the header that contains the address. */
export async function signInAndOut(
  client: Client,
  { email }: Person,
  from: Readonly<Record<string, string>>,
): Promise<void> {
  const anonymous = { 'content-type': 'application/json', ...from }
  const text = await client.send({
    method: 'POST',
    path: '/api/auth/sign-in/email',
    headers: anonymous,
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  if (text === undefined) return
  const { token } = v.parse(Token, JSON.parse(text))
  const headers = { ...anonymous, authorization: `Bearer ${token}` }
  await client.send({ method: 'GET', path: '/v1/account/me', headers })
  await client.send({ method: 'POST', path: '/api/auth/sign-out', headers, body: '{}' })
}

const Token = v.object({ token: v.string() })
const NewKey = v.object({ rawKey: v.string() })
