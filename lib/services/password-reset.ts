import type { KeyRing } from '../access/key-ring/key-ring.ts'
import { deleteKey, type KeyRow, listKeys } from '../access/keys.ts'
import type { ResetUser } from '../access/sign-in/auth-mail.ts'
import type { PasswordResets } from '../access/sign-in/embedded-auth.ts'
import type { Reset } from '../access/sign-in/reset-password.ts'
import { endSignIns } from '../access/sign-in/reset-tokens.ts'
import { setPassword } from '../access/stored-password.ts'
import { insertAudit } from '../accounts/audit.ts'
import type { Notify } from '../contact/account-mails.ts'
import { and, eq } from '../db/drizzle.ts'
import { auditLog, users, verifications } from '../db/tables.ts'
import type { Foundation } from './foundation.ts'

/** Resets passwords, each in one transaction. */
export function createPasswordResets(
  { db, now }: Foundation,
  keys: KeyRing,
  notify: Notify,
): PasswordResets {
  /**
   * Lists keys that may belong to a stranger who signed up with this user's address. Keys made on
   * the command line are not among them, because only the operator can make those.
   */
  const listSuspectKeys = async (user: ResetUser): Promise<KeyRow[]> => {
    if (user.emailVerified) return []
    const made = and(
      eq(auditLog.actorId, user.id),
      eq(auditLog.action, 'create_key'),
      eq(auditLog.app, 'cli'),
    )
    const trusted = await db.select({ id: auditLog.targetId }).from(auditLog).where(made).all()
    const ids = new Set(trusted.map(({ id }) => id))
    return (await listKeys(db, user.id)).filter(({ id }) => !ids.has(id))
  }
  const revoke = (key: KeyRow, { id, email }: ResetUser, app: Reset['app']) => {
    const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
    const actor = { app, actorId: id, actorLabel: email, createdAt: now() }
    return [deleteKey(db, key), insertAudit(db, { ...actor, action: 'revoke_key', ...target })]
  }
  return {
    hasSuspectKeys: async (user: ResetUser) => (await listSuspectKeys(user)).length > 0,
    /**
     * Also spends the user's other tokens, ends all sessions and revokes keys: all, or without a choice
     * those that a stranger may have made. Verifies the address, because the token came by mail or from an
     * operator.
     */
    reset: async (user: ResetUser, { tokenId, password, app, revokeKeys }: Reset) => {
      const chosen = revokeKeys === true ? await listKeys(db, user.id) : []
      const revoked = revokeKeys === undefined ? await listSuspectKeys(user) : chosen
      return keys.change([
        // First, because `change` returns whether this one found its row: if several tokens of a
        // user are used at once, only the first reset finds its own.
        db.delete(verifications).where(eq(verifications.id, tokenId)),
        setPassword(db, user.id, { hash: password, app, now: now() }),
        db.update(users).set({ emailVerified: true }).where(eq(users.id, user.id)),
        ...endSignIns(db, user.id),
        ...notify(user.id, 'password_reset', now()),
        ...revoked.flatMap((key) => revoke(key, user, app)),
      ])
    },
  }
}
