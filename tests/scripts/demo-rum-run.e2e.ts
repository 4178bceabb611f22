import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import * as v from 'valibot'
import { newInquiry } from '../../lib/contact/inquiry.ts'
import { insertInquiry, listInquiries } from '../../lib/contact/inquiry-store.ts'
import { RumOverview } from '../../lib/contract/telemetry-overview.ts'
import { RumSummary } from '../../lib/contract/telemetry-schemas.ts'
import { openDb } from '../../lib/db/open.ts'
import { createTraffic, type DemoBeacon } from '../../scripts/demo-rum/traffic.ts'
import { newDataFolder, type Running, runScript, startServer } from '../e2e/process.ts'
import { INQUIRY } from '../inquiry.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const HOUR_MS = 3_600_000
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

/** With somebody who takes inquiries, of which it is to deliver none. */
const CONTACT = {
  MERIDIAN_CONTACT: 'http://127.0.0.1:9/hook',
  MERIDIAN_CONTACT_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}

async function runDemo() {
  const { code, stderr } = await runScript(DEMO, { ...settings, ...CONTACT })
  const told = /Added (\d+) page views of https:\/\/shop\.example since (\S+)\. /.exec(stderr)
  return { code, stderr, views: Number(told?.[1]), from: Date.parse(told?.[2] ?? '') }
}

async function samplesOf({ url }: Running): Promise<number> {
  return (await read(url, 'overview', RumOverview)).sampleCount
}

/** How many there are of each hour and device, but of those of the last hour. */
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

/** An inquiry of three days ago, which nobody has taken yet. */
function addInquiry(): void {
  const db = openDb(join(dataDir, 'app.db'))
  const now = Date.now() - 72 * HOUR_MS
  const inquiry = { ...INQUIRY, userId: null, now, state: 'waiting' } as const
  insertInquiry(db, newInquiry(inquiry)).run()
  db.$client.close()
}

function listAttempts(): number[] {
  const db = openDb(join(dataDir, 'app.db'))
  const attempts = listInquiries(db).map((inquiry) => inquiry.attempts)
  db.$client.close()
  return attempts
}

describe('npm run demo:rum', () => {
  it('adds views in the hours in which they came, which a server then has', async () => {
    addInquiry()
    const { code, stderr, views, from } = await runDemo()
    assert.equal(code, 0, stderr)
    assert.deepEqual(listAttempts(), [0], 'delivers none, since its clock is behind')
    assert.ok(views > 80 && views < 250, `${views}`)
    const args = ['scripts/key.ts', '--email', 'demo@example.com', '--name', 'demo']
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

  it('changes nothing beside a running server, and adds more after it', async () => {
    const server = await startServer(settings)
    const before = await samplesOf(server)
    const refused = await runDemo()
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^Cannot use the data folder .*: a server runs on it/)
    assert.equal(await samplesOf(server), before)
    await server.stop('SIGKILL')
    const { views } = await runDemo()
    const again = await startServer(settings)
    assert.equal(await samplesOf(again), before + views)
    await again.stop('SIGTERM')
  })
})
