import { addSite, listSites, newSite, type SiteRow } from '../../lib/accounts/sites.ts'
import { type Config, readConfig } from '../../lib/config/config.ts'
import { createProgress } from '../../lib/geo/progress.ts'
import { silentLog } from '../../lib/parts/log/log.ts'
import { openServices } from '../../lib/services/services.ts'
import { createApp } from '../../routes/app.ts'
import { type Accounts, auditEvent, planInEffect } from '../parts/accounts.ts'
import { userWithPlan } from '../parts/user-with-plan.ts'
import type { DemoOptions } from './options.ts'
import { createTraffic, type DemoBeacon, startOf } from './traffic.ts'

/** Beacons that are sent together share transactions. */
const AT_ONCE = 500

/**
 * Sends traffic that ends at `now` to a service in this process. The clock of the service follows the
 * beacons, because a beacon belongs to the hour in which the service receives it. Returns the number
 * of views and the start of the traffic. Throws if a server uses the data folder.
 */
export async function sendDemo(options: DemoOptions, now: number) {
  let clock = now
  await using services = await openServices(withoutSideEffects(readConfig(process.env)), {
    log: silentLog,
    now: () => clock,
    onProgress: createProgress(process.stderr),
    listenUrl: () => 'http://localhost',
  })
  const { db, plans, baseUrl } = services
  const accounts = { db, plans, now, command: 'npm run demo:rum' }
  const site = await demoSite(accounts, { ...options, baseUrl: baseUrl() })
  const app = createApp(services)
  const from = startOf(options.days, now)
  const period = { from, until: now, viewsPerDay: options.views, seed: from }
  let views = 0
  let sending: Promise<void>[] = []
  for (const beacon of createTraffic({ origin: site.name, ...period })) {
    clock = beacon.at
    sending.push(send(app, beacon))
    views += 1
    if (views % AT_ONCE > 0) continue
    await Promise.all(sending)
    sending = []
  }
  await Promise.all(sending)
  clock = now
  return { views, from }
}

/** Finds or adds the user and the site. Throws if the plan allows no further site. */
export async function demoSite(
  accounts: Accounts,
  { site: name, email, baseUrl }: Readonly<Record<'site' | 'email' | 'baseUrl', string>>,
): Promise<SiteRow> {
  const { db, now } = accounts
  const { user } = await userWithPlan(accounts, { email })
  const plan = await planInEffect(accounts, user.id)
  const known = (await listSites(db, user.id)).find((site) => site.name === name)
  if (known !== undefined) return known
  const site = newSite({ userId: user.id, name, now })
  const target = { targetType: 'site', targetId: site.id, detail: name }
  const event = auditEvent(accounts, user.id, { action: 'create_site', ...target })
  if ((await addSite(db, site, plan.maxSites, { event, baseUrl })) === 'added') return site
  throw new Error(
    `Cannot add ${name}: ${email} has the ${plan.maxSites} sites that the plan ${plan.id} allows`,
  )
}

/** While its clock is days behind, the service must not call Stripe or deliver inquiries. */
function withoutSideEffects(config: Config): Config {
  return { ...config, contact: undefined, stripe: { ...config.stripe, secretKey: undefined } }
}

async function send(
  app: ReturnType<typeof createApp>,
  { origin, address, userAgent, body }: DemoBeacon,
): Promise<void> {
  const headers = { origin, 'user-agent': userAgent, 'content-type': 'text/plain;charset=UTF-8' }
  const url = 'http://localhost/v1/telemetry/rum'
  const request = new Request(url, { method: 'POST', headers, body })
  const answer = await app.fetch(request, { remoteAddress: address })
  if (answer.status === 204) return
  throw new Error(`A beacon was answered ${answer.status}: ${await answer.text()}`)
}
