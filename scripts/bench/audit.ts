import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { readAuditPage } from '../../lib/accounts/audit-page.ts'
import type { AuditQuery } from '../../lib/contract/account-schemas.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import { createRandom } from '../random.ts'
import { markdownTable, median } from './table.ts'

const ROWS = 400_000
/** One row in so many is that of the actor who asks. */
const SHARE = 4
const OTHERS = 50
const ACTIONS = ['create_key', 'revoke_key', 'renew_key', 'create_site', 'delete_site', 'login']
const ACTOR = 'asking'

const QUERIES: readonly Partial<AuditQuery>[] = [
  {},
  { offset: 50_000 },
  { offset: ROWS },
  { action: 'create_site' },
  { search: 'e' },
  { search: 'create' },
  { search: 'EXAMPLE.COM' },
  { search: 'EXAMPLE.COM', offset: 50_000 },
  { search: 'EXAMPLE.COM', offset: ROWS },
  { search: 'https://shop-39996.example.com' },
  { search: 'ez' },
  { search: 'zzz' },
  { search: 'eeeeeeeee' },
  { action: 'create_site', search: 'e' },
  { action: 'create_site', search: 'ez' },
  { action: 'nothing', search: 'e' },
]

/** Measures pages of the log of an actor with 100,000 entries among 400,000. Returns a table. */
export async function benchAudit(rounds: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  const db = openDb(join(folder, 'app.db'))
  try {
    fill(db)
    const rows: (string | number)[][] = []
    for (const query of QUERIES) rows.push(await measure(db, query, rounds))
    return markdownTable(['', 'entries', 'ms', 'CPU ms'], rows)
  } finally {
    db.$client.close()
    rmSync(folder, { recursive: true })
  }
}

function fill(db: Db): void {
  const random = createRandom(1)
  db.$client.transaction(() => {
    for (let n = 0; n < ROWS; n++) insertAudit(db, makeEvent(n, random)).run()
  })()
}

function makeEvent(n: number, random: () => number): AuditEvent {
  const mine = n % SHARE === 0
  const action = ACTIONS[Math.floor(random() * ACTIONS.length)] ?? 'login'
  return {
    app: 'api',
    actorId: mine ? ACTOR : `other-${Math.floor(random() * OTHERS)}`,
    actorLabel: 'ada@example.com',
    action,
    createdAt: n,
    ...(action !== 'login' && {
      targetType: action.endsWith('site') ? 'site' : 'api_key',
      targetId: crypto.randomUUID(),
      detail: `https://shop-${n}.example.com`,
    }),
  }
}

async function measure(db: Db, query: Partial<AuditQuery>, rounds: number) {
  const times: number[] = []
  const cpuTimes: number[] = []
  let total = 0
  for (let round = 0; round <= rounds; round++) {
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    total = (await readAuditPage(db, ACTOR, { limit: 50, offset: 0, ...query })).total
    const time = performance.now() - startedAt
    const { user, system } = process.cpuUsage(cpu)
    // The first one warms up.
    if (round === 0) continue
    times.push(time)
    cpuTimes.push((user + system) / 1000)
  }
  const name = Object.entries(query).map(([key, value]) => `${key}=${value}`)
  return [name.join(' ') || 'everything', total, median(times), median(cpuTimes)]
}
