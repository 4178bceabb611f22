import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isBot } from '../../../lib/rum/ingest/bots.ts'

const ON_LINUX =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0'
const compatible = (name: string) => `Mozilla/5.0 (compatible; ${name})`
const monitor = (name: string) => `${ON_LINUX} Safari/537.36 ${name}`
const phone = (name: string) =>
  `Mozilla/5.0 (Linux; Android 12; ${name}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36`

/** As their owners document them, versions aside. */
const BOTS = [
  compatible('Googlebot/2.1; +http://www.google.com/bot.html'),
  `${phone('Nexus 5X Build/MMB29P')} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
  phone('Pixel 2 Build/OPD3; Storebot-Google/1.0'),
  compatible('Google-InspectionTool/1.0;'),
  'GoogleOther',
  monitor('(compatible; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943)'),
  compatible('Yandex/1.01.001; I'),
  compatible('YandexBot/3.0; +http://yandex.com/bots'),
  compatible('AhrefsSiteAudit/6.1; +http://ahrefs.com/robot/site-audit'),
  'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
  'facebookexternalhit/1.1',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot',
  ...['DatadogSynthetics', 'NewRelicPinger/1.0 (1234)', 'StatusCake', 'PingdomTMS/0.8.5'].map(
    monitor,
  ),
  ...['PTST/240101', 'GTmetrix', 'Chrome-Lighthouse', 'Checkly', 'Site24x7'].map(monitor),
  ON_LINUX.replace('Chrome/', 'HeadlessChrome/'),
  ON_LINUX.replace('Chrome/', 'Cypress/13.6.0 Chrome/'),
  ...['curl/8.5.0', 'python-requests/2.31.0', 'Wget/1.21.3', 'Go-http-client/1.1', 'okhttp/4.12.0'],
  ...['meta-externalfetcher/1.1', 'Uptime-Kuma/1.23.16', 'axios/1.7.2'],
]

const VISITORS = [
  ...['CUBOT X19', 'CUBOT_P40 Build/P', 'Robot 5 Build/PPR1', 'SPIDER X1', 'ROBOT (2022)'].map(
    phone,
  ),
  'Mozilla/5.0 (Linux; U; Android 4.4.2; en-us; Robot Build/KOT49H) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30',
  `${phone('SPIDER X1; wv')} Instagram 312.0.0.22.114 Android (33/13; 420dpi; 1080x2204; SPIDER; X1; x1; en_US)`,
  `${phone('Robot 5; wv')} [FB_IAB/FB4A;FBAV/441.0;FBMF/Robot;FBDV/Robot 5;]`,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  monitor(''),
  monitor('Edg/140.0.0.0'),
  ON_LINUX.replace('Chrome/', 'YaBrowser/25.2.0 Chrome/'),
  ...['Mozilla/5.0', 'node', 'undici', 'Bun/1.3.0', 'Deno/2.5.0'],
  '',
  undefined,
]

describe('isBot', () => {
  it('finds crawlers, monitors, browsers without a window, and programs', () => {
    assert.deepEqual(
      BOTS.filter((agent) => !isBot(agent)),
      [],
    )
  })

  it('takes no phone for a bot because of its name, and no server that sends beacons on', () => {
    assert.deepEqual(VISITORS.filter(isBot), [])
  })

  it('answers alike for the same user agent', () => {
    for (const agent of [...BOTS, ...VISITORS]) assert.equal(isBot(agent), isBot(agent))
  })
})
