import { join } from 'node:path'
import { readAuditPage } from '../../lib/accounts/audit-page.ts'
import type { AuditQuery } from '../../lib/contract/account/account-schemas.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import { fillAudit } from '../parts/fill-audit.ts'
import { makeFolder } from '../parts/machine.ts'
import { medianTime } from '../parts/median.ts'
import type { BenchOptions } from '../parts/options.ts'
import { printTable } from '../parts/table.ts'

const ROWS = 400_000
/** Every fourth row belongs to the measured actor. */
const SHARE = 4
const OTHERS = 50
const ACTOR = 'measured'

const QUERIES: readonly Partial<AuditQuery>[] = [
  {},
  { offset: 50_000 },
  { offset: ROWS },
  { action: 'create_site' },
  { search: 'e' },
  { search: 'EXAMPLE.COM' },
  { search: 'EXAMPLE.COM', offset: 50_000 },
  { search: 'https://shop-39996.example.com' },
  { search: 'zzz' },
  { search: 'eeeeeeeee' },
  { action: 'create_site', search: 'e' },
]

/** Measures pages of the audit log for an actor with 100,000 of 400,000 entries. */
export async function benchAudit({ rounds }: BenchOptions): Promise<void> {
  using folder = makeFolder()
  const db = openDb(join(folder.path, 'app.db'))
  fillAudit(db, ROWS, (n, random) =>
    n % SHARE === 0 ? ACTOR : `other-${Math.floor(random() * OTHERS)}`,
  )
  const rows = await Array.fromAsync(QUERIES, (query) => measure(db, query, rounds))
  db.$client.close()
  printTable(rows)
}

async function measure(db: Db, query: Partial<AuditQuery>, rounds: number) {
  let entries = 0
  const ms = await medianTime(rounds, async () => {
    entries = (await readAuditPage(db, ACTOR, { limit: 50, offset: 0, ...query })).total
  })
  const filters = Object.entries(query).map(([key, value]) => `${key}=${value}`)
  return { '': filters.join(' ') || 'everything', entries, ms }
}
