import * as v from 'valibot'
import { seal, unseal } from '../../../lib/accounts/sealed.ts'
import { deriveSecret } from '../../../lib/config/secrets.ts'
import { MINUTE_MS, SECOND_MS } from '../../../lib/parts/durations.ts'
import { readCookie, serializeCookie } from './cookies.ts'
import type { UserVisit } from './visit.ts'

/**
 * Holds a new secret, such as a key, that a page may show to its user again for ten minutes, so that reloading the
 * page neither loses the secret nor makes another one. Sealed, since the database has only hashes; in the browser,
 * since the next request may reach another process.
 */
const COOKIE = 'meridian_shown'
const SHOWN_MS = 10 * MINUTE_MS

type Visit = Pick<UserVisit, 'services' | 'me' | 'c'>

/** The Set-Cookie header that keeps the secret. The page finds it by `id`, but not once it keeps another one. */
export async function shownCookie(
  { services, me }: Visit,
  id: string,
  secret: unknown,
): Promise<string> {
  const shown = { userId: me.id, id, until: services.now() + SHOWN_MS, secret }
  const sealed = await seal(sealingKey(services), Buffer.from(JSON.stringify(shown)))
  return serializeCookie(services, COOKIE, sealed, SHOWN_MS / SECOND_MS)
}

/** null if the browser keeps no such secret, or has kept it for too long, or for another user. */
export async function findShown<Schema extends v.GenericSchema>(
  { services, me, c }: Visit,
  id: string,
  schema: Schema,
): Promise<v.InferOutput<Schema> | null> {
  const sealed = readCookie(services, c, COOKIE)
  if (sealed === null) return null
  const Shown = v.object({
    userId: v.literal(me.id),
    id: v.literal(id),
    until: v.pipe(v.number(), v.gtValue(services.now())),
    secret: schema,
  })
  try {
    const text = String(await unseal(sealingKey(services), sealed))
    return v.parse(Shown, JSON.parse(text)).secret
  } catch {
    return null
  }
}

function sealingKey({ secrets }: Visit['services']): string {
  return deriveSecret(secrets, 'shown secrets')
}
