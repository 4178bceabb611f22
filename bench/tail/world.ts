import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { openDb } from '../../lib/db/open.ts'
import { findFreePort, NODE_COMMAND } from '../../scripts/parts/start-process.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { fillAudit } from '../parts/fill-audit.ts'
import { prepareMeridian, startServer } from '../parts/servers.ts'
import { addPeople } from '../traffic/people.ts'
import { stripeSettings } from '../traffic/stripe-settings.ts'

export type World = Awaited<ReturnType<typeof prepareWorld>>

const EMAIL = 'bench@example.com'
const SITE = 'https://shop.example'
const DAYS = 90
const VIEWS_PER_DAY = 1_000
const AUDIT_ROWS = 100_000

/**
 * Prepares the data of a server in `folder`: 50 people with sites, some of whom pay, and one user with
 * 90 days of telemetry and 100,000 entries in the audit log. The databases are copies, so that they
 * may be replaced.
 */
export async function prepareWorld(folder: string, geoFolder: string, double: StripeDouble) {
  const ownGeo = join(folder, 'databases')
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  cpSync(geoFolder, ownGeo, { recursive: true, preserveTimestamps: true })
  const settings = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1', ...stripeSettings(double) }
  const server = { ...prepareMeridian(dataDir, ownGeo, settings), port: await findFreePort() }
  const origin = `http://127.0.0.1:${server.port}`
  double.addWebhook(`${origin}/v1/billing/webhook`, [settings.STRIPE_WEBHOOK_SECRET])
  const people = await withServer(server, () => addPeople(origin, double))
  addTelemetry(server.env)
  addAudit(dataDir)
  return { folder, dataDir, geoFolder: ownGeo, server, people, site: SITE, days: DAYS }
}

async function withServer<Result>(
  server: Parameters<typeof startServer>[0],
  work: () => Promise<Result>,
): Promise<Result> {
  await using _running = await startServer(server)
  return await work()
}

function addTelemetry(env: NodeJS.ProcessEnv): void {
  const amount = ['--days', `${DAYS}`, '--views', `${VIEWS_PER_DAY}`]
  const [program, ...args] = NODE_COMMAND
  const command = [...args, 'scripts/demo-rum.ts', '--email', EMAIL, '--site', SITE, ...amount]
  execFileSync(program, command, { env, stdio: 'pipe' })
}

function addAudit(dataDir: string): void {
  const db = openDb(join(dataDir, 'app.db'))
  const sql = 'SELECT id FROM users WHERE email = ?'
  const actorId = v.parse(v.string(), db.$client.prepare(sql).pluck().get(EMAIL))
  fillAudit(db, AUDIT_ROWS, () => actorId)
  db.$client.close()
}
