import { INP_PHASES } from '../../lib/contract/telemetry/attribution.ts'
import { pick, type Random } from '../../scripts/parts/random.ts'

export const DEVICES = ['desktop', 'mobile', 'tablet'] as const

const ELEMENTS = ['#gallery>img', 'main>h1', 'button.buy', 'div.banner'] as const

/** A beacon of one of 1,000 products, with eight metrics and what they are attributed to. */
export function makeBeacon(random: Random, deviceType = pick(random, DEVICES)) {
  const time = (most: number) => Math.round(most * random() ** 3 * 10) / 10
  return {
    path: `/product/${Math.floor(1_000 * random())}`,
    deviceType,
    connectionType: '4g',
    metrics: {
      lcp: time(9_000),
      inp: 8 * Math.ceil(60 * random() ** 2),
      cls: random() < 0.5 ? 0 : Math.round(3_333 * random()) / 10_000,
      ttfb: time(3_000),
      dns: time(100),
      tls: time(150),
      request: time(800),
      response: time(300),
    },
    attribution: {
      lcp: pick(random, ELEMENTS),
      inp: pick(random, ELEMENTS),
      inpPhase: pick(random, INP_PHASES),
      cls: pick(random, ELEMENTS),
    },
  }
}
