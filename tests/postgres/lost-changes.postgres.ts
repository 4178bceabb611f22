import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { mintKey } from '../../lib/access/api-key.ts'
import { openPgKeyRing } from '../../lib/access/key-ring/pg-key-ring.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { createPgEngine } from '../../lib/storage/pg-engine.ts'
import { openWire } from '../cluster/wire.ts'
import { openTestPool, query, startPostgres } from '../support/database/postgres-server.ts'

/** Statements that add a user with a key of the same id. */
const adding = (id: string, hash: string) => `
  INSERT INTO users (id, email, plan, created_at) VALUES ('${id}', '${id}@example.com', 'free', 0);
  INSERT INTO api_keys (id, user_id, hash, prefix, name, type, created_at)
  VALUES ('${id}', '${id}', '${hash}', 'prefix', 'test', 'secret', 0)`

it('keys are those of a promoted standby that lacks changes and has newer ones', async () => {
  await using server = await startPostgres()
  const url = new URL(await server.createDatabase())
  await using primary = openTestPool(url.href)
  await migratePg(primary)
  const [revoked, lost, newest] = [mintKey('secret'), mintKey('secret'), mintKey('secret')]
  await query(url.href, adding('revoked', revoked.hash))
  await using standby = await server.addStandby()
  await using wire = await openWire(Number(url.port))
  await using pool = openTestPool(Object.assign(new URL(url), { port: wire.port }).href)
  const engine = createPgEngine(pool)
  const options = { pool, engine, plans: readPlans(undefined), staleMs: 60_000 }
  await using keys = await openPgKeyRing({ ...options, onError: () => {} })

  // The standby is promoted before the old primary changes: so it lacks these changes.
  standby.promote()
  const unsafely = "SET synchronous_commit = 'local';"
  await query(url.href, `${unsafely} ${adding('lost', lost.hash)}`)
  await query(url.href, `${unsafely} DELETE FROM api_keys WHERE id = 'revoked'`)
  while (keys.find(revoked.text, 0) !== null) await sleep(10)
  assert.notEqual(keys.find(lost.text, 0), null)

  const standbyUrl = Object.assign(new URL(url), { port: new URL(standby.url).port })
  await query(standbyUrl.href, adding('newest', newest.hash))
  wire.lead(Number(standbyUrl.port))
  await server.kill()
  while (keys.find(newest.text, 0) === null) await sleep(10)
  assert.notEqual(keys.find(revoked.text, 0), null)
  assert.equal(keys.find(lost.text, 0), null)
})
