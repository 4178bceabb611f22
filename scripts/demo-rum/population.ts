import type { DeviceType } from '../../lib/contract/telemetry/telemetry-schemas.ts'

export type Country = ReturnType<typeof country>
export type Device = ReturnType<typeof device>
export type ShopPage = (typeof PAGES)[number]

export const COUNTRIES: readonly Country[] = [
  country(30, ['84.128', '91.0', '87.122'], 1, 25),
  country(14, ['81.128', '86.128', '90.192'], 0, 45),
  country(11, ['90.0', '92.128', '86.192'], 1, 35),
  country(7, ['84.24', '77.160', '94.208'], 1, 25),
  country(6, ['83.0', '83.16', '79.184'], 1, 45),
  country(5, ['83.32', '79.144', '88.0'], 1, 50),
  country(15, ['73.0', '98.192', '71.192', '107.128'], -5, 110),
  country(3, ['99.224', '70.24', '24.200'], -5, 115),
  country(4, ['177.32', '189.32', '187.64'], -3, 220),
  country(3, ['117.192', '59.88', '122.160'], 5.5, 240),
  country(1, ['126.0', '126.64', '153.128'], 9, 250),
  country(1, ['1.128', '121.208', '58.160'], 10, 290),
]

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1'
const ANDROID = `Mozilla/5.0 (Linux; Android 10; K) ${CHROME}`
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${SAFARI}`
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'

export const DEVICES: readonly Device[] = [
  device(26, 'mobile', `${ANDROID} Mobile Safari/537.36`, 2.2),
  device(12, 'mobile', `${ANDROID} Mobile Safari/537.36`, 4.5),
  device(20, 'mobile', IPHONE, 1.4),
  device(5, 'tablet', `${ANDROID} Safari/537.36`, 2.6),
  device(26, 'desktop', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`, 1),
  device(11, 'desktop', FIREFOX, 1.1),
]

/**
 * `lcpMs` is the median LCP on a good desktop, without the network. `shift` is the median CLS of the
 * views that shift.
 */
export const PAGES = [
  { weight: 24, path: '/', lcpMs: 900, shift: 0.03, largest: 'main>img.hero' },
  { weight: 18, path: '/shoes', lcpMs: 1200, shift: 0.08, largest: 'ul.grid>li>img' },
  { weight: 10, path: '/jackets', lcpMs: 1250, shift: 0.08, largest: 'ul.grid>li>img' },
  ...['1041', '1187', '2214', '2305', '3178', '4420'].map((id) => ({
    weight: 5,
    path: `/products/${id}`,
    lcpMs: 1400,
    shift: 0.05,
    largest: '#gallery>img',
  })),
  { weight: 7, path: '/search', lcpMs: 1100, shift: 0.19, largest: 'ul.grid>li>img' },
  { weight: 6, path: '/basket', lcpMs: 800, shift: 0.02, largest: 'main>h1' },
  { weight: 4, path: '/checkout', lcpMs: 1900, shift: 0.12, largest: '#payment>iframe' },
  { weight: 2, path: '/help/returns', lcpMs: 600, shift: 0.01, largest: 'article>p' },
]

/**
 * `networks` are the first two numbers of IPv4 addresses that the bundled data place in the country.
 * The round trip is to the servers of the shop.
 */
function country(
  weight: number,
  networks: readonly string[],
  utcOffsetHours: number,
  roundTripMs: number,
) {
  return { weight, networks, utcOffsetHours, roundTripMs }
}

/** The device is slower than a good desktop by the factor `slowness`. */
function device(weight: number, deviceType: DeviceType, userAgent: string, slowness: number) {
  // Only Chromium reports its connection, and measures layout shifts.
  return { weight, deviceType, userAgent, slowness, isChromium: userAgent.includes('Chrome/') }
}
