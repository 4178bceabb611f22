import { mintKey } from '../lib/access/api-key.ts'
import { toKeyAccess } from '../lib/access/key-access.ts'
import { insertKey, keyExpiry, newKey } from '../lib/access/keys.ts'
import { unit } from '../lib/db/unit.ts'
import { type Accounts, audit } from './accounts.ts'
import type { NewKeyOptions } from './key-options.ts'
import { planInEffect } from './plan-in-effect.ts'
import { report } from './run.ts'
import { userWithPlan } from './user-with-plan.ts'

/** Makes the key, and the user if new. Returns the text of the key. */
export async function createKey(accounts: Accounts, options: NewKeyOptions): Promise<string> {
  const { db, now } = accounts
  const { user } = await userWithPlan(accounts, options)
  const plan = await planInEffect(accounts, user.id)
  const { name, type, scopes, origins } = options
  const minted = mintKey(type)
  const key = newKey(minted, {
    userId: user.id,
    name,
    type,
    ...toKeyAccess({ type, scopes, allowedOrigins: origins }),
    now,
    expiresAt: keyExpiry(plan, now),
  })
  const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
  const row = audit(accounts, user.id, { action: 'create_key', ...target })
  if (await unit(db, [insertKey(db, key, plan.maxKeys), row])) {
    report(`Key ${key.prefix}… of ${user.email}, plan ${plan.id}. It is shown only now:`)
    return minted.text
  }
  throw new Error(
    `${user.email} has the ${plan.maxKeys} keys that the plan ${plan.id} allows; set another with --plan`,
  )
}
