import { deriveKey, type MintedKey } from '../access/api-key.ts'
import type { KeyRing } from '../access/key-ring.ts'
import { insertKey, type KeyRow, listKeys, newKey, removeKeys } from '../access/keys.ts'
import { parseOriginPattern } from '../access/origins.ts'
import { type Change, insertAudit } from '../accounts/audit.ts'
import { findUser, insertUser, newUser, type UserRow } from '../accounts/users.ts'
import type { Statement } from '../db/unit.ts'
import { once } from '../once.ts'
import { DEMO_PLAN } from '../plans.ts'
import type { Base } from './base.ts'

/** Nobody can sign up with it or reset its password, since it is no e-mail address. */
const DEMO_USER = 'demo'

/**
 * Returns what makes the demo key usable and tells its text: a publishable key for the pages of this
 * instance alone. It follows from the secret, so that it survives restarts without being stored.
 * null: there is none, since the demo is off, or the pages come over http from another machine.
 */
export function createOpenDemo(base: Base, keys: KeyRing): () => Promise<string | null> {
  const open = once(async () => ((await isTaken(base)) ? null : openKey(base, keys)))
  return () =>
    open().catch((error) => {
      base.log.error({ err: error }, 'cannot make the demo key; look-ups of the landing page go on')
      return null
    })
}

/** A remote auth service names its users as it likes. */
async function isTaken({ db }: Base): Promise<boolean> {
  const user = await findUser(db, DEMO_USER)
  return user !== null && user.plan !== DEMO_PLAN.id
}

async function openKey(base: Base, keys: KeyRing): Promise<string | null> {
  const origin = base.config.demo ? parseOriginPattern(new URL(base.baseUrl()).origin) : null
  const minted = deriveKey('publishable', base.secrets.auth, 'demo key')
  const wanted = origin === null ? null : demoKey(minted, origin.text, base.now())
  const [present, ...others] = await listKeys(base.db, DEMO_USER)
  if (others.length > 0 || !isSame(present, wanted)) {
    await keys.change(replaceKeys(base, { present, wanted }))
  }
  return wanted === null ? null : minted.text
}

function demoKey(minted: MintedKey, origin: string, now: number): KeyRow {
  return newKey(minted, {
    userId: DEMO_USER,
    name: 'Landing page',
    type: 'publishable',
    scopes: ['geo:read'],
    allowedOrigins: [origin],
    now,
    expiresAt: null,
  })
}

function isSame(present: KeyRow | undefined, wanted: KeyRow | null): boolean {
  if (present === undefined || wanted === null) return present === undefined && wanted === null
  return (
    present.id === wanted.id && present.allowedOrigins?.join() === wanted.allowedOrigins?.join()
  )
}

interface Keys {
  readonly present: KeyRow | undefined
  readonly wanted: KeyRow | null
}

function replaceKeys({ db, now }: Base, { present, wanted }: Keys): [Statement, ...Statement[]] {
  const audit = (change: Change) =>
    insertAudit(db, { app: 'api', actorId: DEMO_USER, createdAt: now(), ...change })
  const key = wanted ?? present
  const event = { targetType: 'api_key', targetId: key?.id, detail: key?.name }
  const action = wanted === null ? 'revoke_key' : 'create_key'
  const removal: [Statement, ...Statement[]] = [
    audit({ action, ...event }),
    removeKeys(db, DEMO_USER),
  ]
  return wanted === null
    ? removal
    : [...removal, insertUser(db, demoUser(now())), insertKey(db, wanted, DEMO_PLAN.maxKeys)]
}

function demoUser(now: number): UserRow {
  return { ...newUser({ email: DEMO_USER, plan: DEMO_PLAN.id, now }), id: DEMO_USER }
}
