import * as v from 'valibot'
import type { StripeDouble } from '../../../stripe-double/double.ts'
import type { Call, Client } from './client.ts'

/** A user with a session, a key and a site. */
export interface Person {
  readonly email: string
  readonly session: string
  readonly key: string
  /** The origin of the site. */
  readonly site: string
  /** Whether a subscription was bought. */
  readonly isPaying: boolean
}

const PEOPLE = 50
const PAYING = 5
const PASSWORD = crypto.randomUUID()
const JSON_TYPE = { 'content-type': 'application/json' }

/** Signs users up and gives each a key and a site; some buy a plan. */
export async function addPeople(client: Client, double: StripeDouble): Promise<Person[]> {
  const people: Person[] = []
  for (let n = 0; n < PEOPLE; n++) people.push(await addPerson(client, double, n))
  await double.settled()
  return people
}

async function addPerson(client: Client, double: StripeDouble, n: number): Promise<Person> {
  const email = `person-${n}@example.com`
  const from = `10.0.0.${n + 1}`
  const { token: session } = await mustSend(client, Token, {
    method: 'POST',
    path: '/api/auth/sign-up/email',
    headers: { ...JSON_TYPE, 'x-forwarded-for': from },
    body: JSON.stringify({ name: 'Soak', email, password: PASSWORD }),
  })
  const own = { method: 'POST', headers: { authorization: `Bearer ${session}` } } as const
  const site = `https://site-${n}.example`
  const { rawKey: key } = await mustSend(client, NewKey, {
    ...own,
    path: '/v1/account/me/keys',
    body: JSON.stringify({ name: 'soak' }),
    expected: [201],
  })
  await mustSend(client, v.unknown(), {
    ...own,
    path: '/v1/account/me/sites',
    body: JSON.stringify({ name: site }),
    expected: [201],
  })
  const isPaying = n < PAYING
  if (isPaying) {
    const body = JSON.stringify({ planId: 'pro' })
    await mustSend(client, v.unknown(), { ...own, path: '/v1/billing/subscription', body })
    const [checkout] = [...double.world.state.tables.sessions.values()].slice(-1)
    double.payCheckout(checkout?.id ?? '', { card: 'pm_card_visa' })
  }
  return { email, session, key, site, isPaying }
}

/** Signs in and out again, from an address of its own. */
export async function signInAndOut(client: Client, { email }: Person, from: string) {
  const text = await client.send({
    method: 'POST',
    path: '/api/auth/sign-in/email',
    headers: { ...JSON_TYPE, 'x-forwarded-for': from },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  if (text === undefined) return
  const { token } = v.parse(Token, JSON.parse(text))
  const headers = { ...JSON_TYPE, authorization: `Bearer ${token}`, 'x-forwarded-for': from }
  await client.send({ method: 'GET', path: '/v1/account/me', headers })
  await client.send({ method: 'POST', path: '/api/auth/sign-out', headers, body: '{}' })
}

const Token = v.object({ token: v.string() })
const NewKey = v.object({ rawKey: v.string() })

async function mustSend<Schema extends v.GenericSchema>(
  client: Client,
  schema: Schema,
  call: Call,
): Promise<v.InferOutput<Schema>> {
  const text = await client.send(call)
  if (text === undefined) throw new Error(`Cannot prepare: ${[...client.problems].join('; ')}`)
  return v.parse(schema, JSON.parse(text))
}
