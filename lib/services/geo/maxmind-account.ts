import * as v from 'valibot'
import { seal, unseal } from '../../accounts/sealed.ts'
import type { Config } from '../../config/config.ts'
import { deriveSecret } from '../../config/secrets.ts'
import { eq } from '../../db/drizzle.ts'
import type { Db } from '../../db/open.ts'
import { providerAccounts } from '../../db/tables.ts'
import type { Statement } from '../../db/transaction.ts'
import { hasAccount } from '../../geo/download/sources.ts'
import type { Foundation } from '../foundation.ts'

const MAXMIND = 'maxmind'
const isMaxmind = eq(providerAccounts.provider, MAXMIND)

/** As MaxMind gives them: digits, and letters, digits and underscores. */
export const MaxmindAccount = v.object({
  accountId: v.pipe(v.string(), v.regex(/^\d{1,20}$/, 'must be a number')),
  licenseKey: v.pipe(v.string(), v.regex(/^\w{1,100}$/, 'must be letters, digits and underscores')),
})
type MaxmindAccount = v.InferOutput<typeof MaxmindAccount>

export type MaxmindAccounts = ReturnType<typeof openMaxmindAccounts>

/** Who gave the account: the settings, which come first, or an operator; null: nobody. */
export type AccountOrigin = 'settings' | 'operator' | null

/** The account that an operator has entered, encrypted in the database. */
export function openMaxmindAccounts({
  db,
  config,
  secrets,
}: Pick<Foundation, 'db' | 'config' | 'secrets'>) {
  const key = deriveSecret(secrets, 'accounts at providers')
  return {
    origin: () => findAccountOrigin(config, db),
    /** The settings by which a process that downloads gets the account; empty if it has one, or there is none. */
    settings: async (): Promise<Readonly<Record<string, string>>> => {
      if (hasAccount(config.download)) return {}
      const row = await db.select().from(providerAccounts).where(isMaxmind).get()
      if (row === undefined) return {}
      const text = String(await unseal(key, row.sealed))
      const { accountId, licenseKey } = v.parse(MaxmindAccount, JSON.parse(text))
      return {
        MERIDIAN_MAXMIND_ACCOUNT_ID: accountId,
        MERIDIAN_MAXMIND_LICENSE_KEY: licenseKey,
      }
    },
    encrypt: (account: MaxmindAccount) => seal(key, Buffer.from(JSON.stringify(account))),
    /** Keeps what `encrypt` has made. */
    keep: (sealed: string): Statement =>
      db
        .insert(providerAccounts)
        .values({ provider: MAXMIND, sealed })
        .onConflictDoUpdate({ target: providerAccounts.provider, set: { sealed } }),
    /** Changes no row if there is none. */
    remove: (): Statement => db.delete(providerAccounts).where(isMaxmind),
  }
}

export async function findAccountOrigin({ download }: Config, db: Db): Promise<AccountOrigin> {
  if (hasAccount(download)) return 'settings'
  const columns = { provider: providerAccounts.provider }
  const row = await db.select(columns).from(providerAccounts).where(isMaxmind).get()
  return row === undefined ? null : 'operator'
}
