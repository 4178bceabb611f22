import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, it } from 'node:test'
import { until } from '../../billing/server-shop.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'

// run: alone

/*
 * Replaces databases in a server under constant look-ups: each answer comes from one version or the
 * next, none fails, and replaced files are unmapped.
 */

const CLIENTS = 16
const SWAPS = 10
/** Unused mappings that the garbage collector may not have found yet. */
const MAX_UNUSED = 8
/** Padding without records: the garbage collector does not hurry for small files. */
const PADDING = Buffer.alloc(32 * 1024 * 1024)
const METADATA_MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const LOOKUPS = 10_000

const { dataDir, settings: folder, remove } = newDataFolder()
const plans = join(dataDir, 'plans.json')
const city = join(dataDir, 'City.mmdb')
const settings = {
  ...folder,
  MERIDIAN_GEO: city,
  MERIDIAN_PLANS: plans,
  MERIDIAN_LOG_LEVEL: 'warn',
}
const wide = { monthlyCap: 10 ** 9, maxKeys: 10, maxSites: 1, price: 0, requestsPerMinute: 10 ** 7 }

/** A database that places every address in the city of this number. */
function version(number: number): Buffer {
  const place = { country: { iso_code: 'DE' }, city: { names: { en: `City ${number}` } } }
  const bytes = mmdbBytes({ '0.0.0.0/0': place }, { builtAt: Date.UTC(2026, 0, number + 1) })
  const end = bytes.lastIndexOf(METADATA_MARKER)
  return Buffer.concat([bytes.subarray(0, end), PADDING, bytes.subarray(end)])
}

function replaceCity(bytes: Uint8Array): void {
  writeFileSync(`${city}.new`, bytes)
  renameSync(`${city}.new`, city)
}

let server: Running
let key: string
before(async () => {
  writeFileSync(plans, JSON.stringify([{ id: 'free', name: 'Wide', ...wide }]))
  replaceCity(version(0))
  server = await startServer(settings)
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'load']
  key = (await runScript(args, settings)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

/** Starts clients that look up one address after the other until they are stopped. */
function startLookups() {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const latest = Array.from({ length: CLIENTS }, () => 0)
  const wrong: string[] = []
  let answered = 0
  let stopped = false
  const client = async (number: number) => {
    for (let n = 0; !stopped; n++) {
      const answer = await lookUp(agent, `${server.url}/v1/ip/81.${number}.${n & 255}.1`)
      const seen = Number(/^200 .*"city":"City (\d+)"/.exec(answer)?.[1])
      if (!(seen >= (latest[number] ?? 0))) wrong.push(`after ${latest[number]}: ${answer}`)
      latest[number] = seen
      answered += 1
    }
  }
  const ended = Promise.all(latest.map((_, number) => client(number)))
  return {
    wrong,
    answered: () => answered,
    /** Whether all clients got this version, and none an older one. */
    areAll: (number: number) => latest.every((seen) => seen === number),
    stop: async () => {
      stopped = true
      await ended
      agent.destroy()
    },
  }
}

/** Status and body, or the error. */
function lookUp(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(error.message)
    const read = (answer: IncomingMessage) =>
      void text(answer).then((body) => resolve(`${answer.statusCode} ${body}`), fail)
    request(url, { agent, headers: { 'x-api-key': key } }, read)
      .on('error', fail)
      .end()
  })
}

/** The files of the data folder that the process has mapped, by whether they are deleted. */
function mappings() {
  const lines = readFileSync(`/proc/${server.pid}/maps`, 'utf8').split('\n')
  const ours = lines.filter((line) => line.includes(join(dataDir, 'geo')))
  return { all: ours.length, deleted: ours.filter((line) => line.endsWith('(deleted)')).length }
}

const refusedLines = () =>
  server.output().match(/"path":"[^"]*City\.mmdb","reason":"[^"]*".*"database refused"/g) ?? []

const BAD: Readonly<Record<string, () => Uint8Array>> = {
  'cut in half': () => version(99).subarray(0, version(99).length / 2),
  'of random bytes': () => randomBytes(100_000),
  'of an unknown layout': () =>
    mmdbBytes({ '0.0.0.0/0': { temperature: 21 } }, { databaseType: 'Weather' }),
}

it('no look-up fails while databases are replaced under load, and old ones are unmapped', async () => {
  const lookups = startLookups()
  await until(() => lookups.areAll(0) && lookups.answered() > CLIENTS)
  let most = 0
  for (let number = 1; number <= SWAPS; number++) {
    replaceCity(version(number))
    await until(() => lookups.areAll(number))
    most = Math.max(most, mappings().deleted)
  }
  for (const [name, bytes] of Object.entries(BAD)) {
    const before = refusedLines().length
    replaceCity(bytes())
    await until(() => refusedLines().length > before)
    assert.equal(refusedLines().length, before + 1, name)
    assert.ok(lookups.areAll(SWAPS), name)
  }
  await until(() => lookups.answered() >= LOOKUPS)
  await lookups.stop()
  assert.deepEqual(lookups.wrong, [])
  assert.ok(most <= MAX_UNUSED, `${most} mappings of deleted files`)
  const { all, deleted } = mappings()
  assert.ok(all >= 1, 'nothing is mapped')
  assert.ok(deleted <= MAX_UNUSED, `${deleted} mappings of deleted files`)
  const copies = readdirSync(join(dataDir, 'geo')).filter((name) => name.startsWith('copy-'))
  assert.ok(copies.length <= 2, copies.join(', '))
})
