import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createKeptAnswers } from '../../lib/accounts/kept-answers.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { inWrite } from '../../lib/postgres/transaction.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'
import { NOON } from '../support/helpers.ts'
import { closedAfterTest, shared } from '../support/scene/freshly.ts'

const server = shared(startPostgres)
const closed = closedAfterTest()

it('answers while another write holds the lock of all writes', async () => {
  const pool = closed(openTestPool(await server.createDatabase()))
  await migratePg(pool)
  const { answerOnce } = createKeptAnswers({
    db: createPgDb(pool),
    secret: 'ab'.repeat(32),
    now: () => NOON,
    onError: assert.ifError,
  })
  const send = (answer: string) =>
    answerOnce({ id: ['1'], userId: null, body: '' }, async () => ({ answer, ms: MINUTE_MS }))
  const answers = await inWrite(pool, async () => [await send('first'), await send('second')])
  assert.deepEqual(answers, ['first', 'first'])
})
