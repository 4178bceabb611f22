import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import * as v from 'valibot'
import { insertInquiry, listInquiries, newInquiry } from '../../lib/contact/inquiry-store.ts'
import { RumOverview } from '../../lib/contract/telemetry/telemetry-overview.ts'
import { RumSummary } from '../../lib/contract/telemetry/telemetry-schemas.ts'
import { openDb } from '../../lib/db/open.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { createTraffic, type DemoBeacon } from '../../scripts/demo-rum/traffic.ts'
import { INQUIRY } from '../contact/inquiry.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const SITE = 'https://shop.example'
const DEMO = ['scripts/demo-rum.ts', '--site', SITE, '--days', '2', '--views', '60']

let key = ''

async function read<Schema extends v.GenericSchema>(url: string, path: string, schema: Schema) {
  const answer = await fetch(`${url}/v1/telemetry/rum/${path}?domain=shop.example`, {
    headers: { 'x-api-key': key },
  })
  assert.equal(answer.status, 200)
  return v.parse(schema, await answer.json())
}

/** Configures a recipient of inquiries, so that the test sees whether the demo delivers any. */
const CONTACT = {
  MERIDIAN_CONTACT: 'http://127.0.0.1:9/hook',
  MERIDIAN_CONTACT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}

async function runDemo() {
  const { code, stderr } = await runScript(DEMO, { ...settings, ...CONTACT })
  const report = /Added (\d+) page views of https:\/\/shop\.example since (\S+)\. /.exec(stderr)
  return { code, stderr, views: Number(report?.[1]), from: Date.parse(report?.[2] ?? '') }
}

async function samplesOf({ url }: Running): Promise<number> {
  return (await read(url, 'overview', RumOverview)).sampleCount
}

/** The sum of the counts of each name, sorted by name. */
function countByRow(rows: readonly { readonly name: string; readonly count: number }[]) {
  const counts = new Map<string, number>()
  for (const { name, count } of rows) counts.set(name, (counts.get(name) ?? 0) + count)
  return new Map([...counts].sort())
}

function nameOf(hour: string, device: string | null | undefined): string {
  return `${hour} ${device}`
}

function ofBeacon({ at, body }: DemoBeacon) {
  const { deviceType } = JSON.parse(body)
  return { name: nameOf(new Date(at).toISOString().slice(0, 13), deviceType), count: 1 }
}

/** Adds an undelivered inquiry from three days ago. */
async function addInquiry(): Promise<void> {
  const db = openDb(join(dataDir, 'app.db'))
  const now = Date.now() - 72 * HOUR_MS
  const inquiry = { ...INQUIRY, userId: null, now, state: 'waiting' } as const
  await insertInquiry(db, newInquiry(inquiry)).run()
  db.$client.close()
}

async function listAttempts(): Promise<number[]> {
  const db = openDb(join(dataDir, 'app.db'))
  const attempts = (await listInquiries(db)).map((inquiry) => inquiry.attempts)
  db.$client.close()
  return attempts
}

describe('npm run demo:rum', () => {
  it('adds views to their own hours, and a server then reports them', async () => {
    await addInquiry()
    const { code, stderr, views, from } = await runDemo()
    assert.equal(code, 0, stderr)
    assert.match(stderr, /start the server and open \/app\/vitals as demo@example\.com/)
    assert.deepEqual(
      await listAttempts(),
      [0],
      'the demo delivers no inquiry, because its clock is behind',
    )
    assert.ok(views > 80 && views < 250, `${views}`)
    const args = [
      'scripts/key.ts',
      '--email',
      'demo@example.com',
      '--name',
      'demo',
      '--scopes',
      'all',
    ]
    key = (await runScript(args, settings)).stdout.trim()
    const server = await startServer(settings)
    const { metrics } = await read(server.url, 'summary', RumSummary)
    const { sampleCount, beacons } = await read(server.url, 'overview', RumOverview)
    await server.stop('SIGTERM')
    const counted = metrics.reduce((sum, row) => sum + row.sampleCount, 0)
    assert.deepEqual([counted, sampleCount, beacons.accepted], [views, views, views])
    const until = from + 2 * 24 * HOUR_MS
    const period = { from, until, viewsPerDay: 60, seed: from }
    const wanted = countByRow([...createTraffic({ origin: SITE, ...period })].map(ofBeacon))
    const limit = new Date(until).toISOString().slice(0, 13)
    const stored = metrics
      .filter(({ hour }) => hour < limit)
      .map(({ hour, deviceType, sampleCount: count }) => ({
        name: nameOf(hour, deviceType),
        count,
      }))
    assert.deepEqual(countByRow(stored), wanted)
  })

  it('refuses to run while a server runs, and adds more views once the server has stopped', async () => {
    const server = await startServer(settings)
    const before = await samplesOf(server)
    const refused = await runDemo()
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^Cannot use the data folder .*: a server is using it/)
    assert.equal(await samplesOf(server), before)
    await server.stop('SIGKILL')
    const { views } = await runDemo()
    const again = await startServer(settings)
    assert.equal(await samplesOf(again), before + views)
    await again.stop('SIGTERM')
  })
})
