import type { Config } from '../../lib/config.ts'
import type { OnProgress } from '../../lib/geo/prepare.ts'
import { silentLog } from '../../lib/log.ts'
import { openServices } from '../../lib/services/services.ts'
import { createApp } from '../../routes/app.ts'
import { demoSite } from './demo-site.ts'
import type { DemoOptions } from './options.ts'
import { createTraffic, type DemoBeacon, startOf } from './traffic.ts'

export interface DemoEdge {
  readonly config: Config
  readonly options: DemoOptions
  /** Epoch milliseconds: the traffic ends here. */
  readonly now: number
  readonly onProgress: OnProgress
}

export interface Sent {
  readonly views: number
  /** Epoch milliseconds. */
  readonly from: number
}

/** So many are on their way together, and share transactions. */
const AT_ONCE = 500

/**
 * Sends the traffic to the endpoint of a service of its own, whose clock is that of the visitors: the
 * hour of a beacon is the one in which the service gets it. Throws where a server has the data folder.
 */
export async function sendDemo({ config, options, now, onProgress }: DemoEdge): Promise<Sent> {
  let clock = now
  const listenUrl = () => 'http://localhost'
  using services = await openServices(alone(config), {
    log: silentLog,
    now: () => clock,
    onProgress,
    listenUrl,
  })
  const { db, plans } = services
  const site = await demoSite({ db, plans, now, command: 'npm run demo:rum' }, options)
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

/** With a clock that is days behind nobody is to be told anything: neither Stripe nor who reads inquiries. */
function alone(config: Config): Config {
  return { ...config, contact: undefined, stripe: { ...config.stripe, secretKey: undefined } }
}

type App = ReturnType<typeof createApp>

async function send(app: App, beacon: DemoBeacon): Promise<void> {
  const { origin, address, userAgent, body } = beacon
  const headers = { origin, 'user-agent': userAgent, 'content-type': 'text/plain;charset=UTF-8' }
  const request = new Request('http://localhost/v1/telemetry/rum', {
    method: 'POST',
    headers,
    body,
  })
  const answer = await app.fetch(request, { remoteAddress: address })
  if (answer.status !== 204) {
    throw new Error(`A beacon was answered ${answer.status}: ${await answer.text()}`)
  }
}
