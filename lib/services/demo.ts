import { isDeepStrictEqual } from 'node:util'
import { deriveKey, type MintedKey } from '../access/api-key.ts'
import type { KeyRing } from '../access/key-ring/key-ring.ts'
import { insertKey, type KeyRow, listKeys, newKey, removeKeys } from '../access/keys.ts'
import { parseOriginPattern } from '../access/origins.ts'
import { insertAudit } from '../accounts/audit.ts'
import { DEMO_USER, findUser, insertUser, newUser } from '../accounts/users.ts'
import { DEMO_PLAN } from '../config/plans.ts'
import type { Statement } from '../db/transaction.ts'
import { once } from '../parts/once.ts'
import type { Foundation } from './foundation.ts'

/**
 * Returns a function that creates the demo key if needed and resolves to its text: a publishable key
 * for the pages of this instance. The key is derived from the secret, so that it survives restarts
 * without being stored. It resolves to null if the demo is off, or if the pages are served over http
 * to other machines.
 */
export function createOpenDemo(
  foundation: Foundation,
  keys: KeyRing,
): () => Promise<string | null> {
  const open = once(async () => ((await isTaken(foundation)) ? null : openKey(foundation, keys)))
  return () =>
    open().catch((error) => {
      foundation.log.error(
        { err: error },
        'cannot make the demo key; the landing page works without it',
      )
      return null
    })
}

/** Whether a user of a remote auth service has the id of the demo user. */
async function isTaken({ db }: Foundation): Promise<boolean> {
  const user = await findUser(db, DEMO_USER)
  return user !== null && user.plan !== DEMO_PLAN.id
}

async function openKey(foundation: Foundation, keys: KeyRing): Promise<string | null> {
  const origin = foundation.config.demo
    ? parseOriginPattern(new URL(foundation.baseUrl()).origin)
    : null
  const minted = deriveKey('publishable', foundation.secrets.auth, 'demo key')
  const wanted = origin === null ? null : demoKey(minted, origin.text, foundation.now())
  const findOther = async () => {
    const [present, ...others] = await listKeys(foundation.db, DEMO_USER)
    return others.length === 0 && isSame(present, wanted) ? null : { present }
  }
  if ((await findOther()) !== null) {
    // One of several nodes that start at once.
    await foundation.storage.leases.waitAndRun('demo key', async () => {
      const left = await findOther()
      if (left !== null) await keys.change(replaceKeys(foundation, left.present, wanted))
    })
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
  return (
    present?.id === wanted?.id && isDeepStrictEqual(present?.allowedOrigins, wanted?.allowedOrigins)
  )
}

function replaceKeys(
  { db, now }: Foundation,
  present: KeyRow | undefined,
  wanted: KeyRow | null,
): [Statement, ...Statement[]] {
  const key = wanted ?? present
  const audit = insertAudit(db, {
    app: 'api',
    actorId: DEMO_USER,
    createdAt: now(),
    action: wanted === null ? 'revoke_key' : 'create_key',
    targetType: 'api_key',
    targetId: key?.id,
    detail: key?.name,
  })
  const removal = removeKeys(db, DEMO_USER)
  if (wanted === null) return [audit, removal]
  const user = { ...newUser({ email: DEMO_USER, plan: DEMO_PLAN.id, now: now() }), id: DEMO_USER }
  return [audit, removal, insertUser(db, user), insertKey(db, wanted, DEMO_PLAN.maxKeys)]
}
