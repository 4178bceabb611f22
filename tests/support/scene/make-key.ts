import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mintKey } from '../../../lib/access/api-key.ts'
import { keyExpiry } from '../../../lib/access/key-expiry.ts'
import { insertKey, newKey } from '../../../lib/access/keys.ts'
import { findUserByEmail, insertUser, newUser, updatePlan } from '../../../lib/accounts/users.ts'
import type { KeyType } from '../../../lib/contract/account/account-schemas.ts'
import type { Scope } from '../../../lib/contract/operation.ts'
import type { Db } from '../../../lib/db/open.ts'
import type { Services } from '../../../lib/services/services.ts'

export interface KeyOptions {
  readonly email?: string
  /** The plan that the user has from now on; default: Pro. */
  readonly plan?: string
  readonly type?: KeyType
  readonly scopes?: readonly Scope[] | null
  readonly origins?: readonly string[]
  readonly expiresAt?: number | null
}

/** PostgreSQL's notices arrive long before. */
const MOST_TURNS = 1_000_000

/** Makes a key over `db`, a connection of its own, as `npm run key` does. Creates the user if missing. */
export async function makeKey(db: Db, services: Services, options: KeyOptions): Promise<string> {
  const { plans, now, keys } = services
  const { email = 'ada@example.com', type = 'secret', origins } = options
  const plan = plans.find(options.plan ?? 'pro') ?? plans.free
  await insertUser(db, newUser({ email, plan: plan.id, now: now() })).run()
  const user = await findUserByEmail(db, email)
  assert.ok(user)
  await updatePlan(db, user.id, plan.id).run()
  const minted = mintKey(type)
  const row = newKey(minted, {
    userId: user.id,
    name: 'test',
    type,
    scopes: options.scopes ?? null,
    allowedOrigins: origins ?? null,
    now: now(),
    expiresAt: options.expiresAt === undefined ? keyExpiry(plan, now()) : options.expiresAt,
  })
  assert.equal((await insertKey(db, row, 1_000).run()).changes, 1)
  // The service checks for changes by other connections once a millisecond. PostgreSQL tells it.
  for (let at = 0; at < MOST_TURNS; at++) {
    await nextTurn()
    if (keys.find(minted.text, at) !== null) return minted.text
  }
  return assert.fail('the service has not found the new key')
}
