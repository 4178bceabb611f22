import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { Environment } from '../../lib/config/environment.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'

type Settings = Record<string, string>

function problemsOf(env: Settings): string {
  try {
    readConfig(env)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

const NO_NETWORKS = ['10.0.0.0/33', '10.0.0.1/8', 'all', '10.0.0.0/8;::1', '::ffff:10.0.0.0/95']
const NO_HEADERS = [
  ...['Fly Client IP', 'Fly-Client-IP:', 'X-Real-IP, X-Other', 'A\r\nB', 'Ä-IP', 'Forwarded'],
]
const NO_CONTACTS = [
  ...['stored', 'mailto:', 'mailto:support', 'mailto:a@b.example?subject=x', 'a@b.example'],
  ...['mailto:a@b.example\nBcc: c@d.example', 'https://', 'http://crm.example/hook'],
  ...['https://user:pass@crm.example/hook', 'ftp://crm.example', 'mailto:a@b.example,c@d.example'],
]

describe('readConfig', () => {
  it('needs no settings', () => {
    assert.deepEqual(readConfig({}), {
      port: 8787,
      host: '127.0.0.1',
      admin: undefined,
      maxConnections: 10_000,
      processes: 1,
      drainSeconds: 0,
      dataDir: 'data',
      backupDir: join('data', 'backups'),
      replicated: false,
      postgres: undefined,
      baseUrl: undefined,
      logLevel: 'info',
      plansFile: undefined,
      stripe: {
        secretKey: undefined,
        webhookSecrets: [],
        apiBase: undefined,
        prices: {},
        overagePrice: undefined,
        tax: 'off',
      },
      trustedProxies: [],
      clientHeader: 'x-forwarded-for',
      dnsServers: undefined,
      hostnames: undefined,
      corsOrigins: [],
      authUrl: undefined,
      allowSignUp: true,
      demo: true,
      smtpUrl: undefined,
      mailFrom: 'Meridian <meridian@localhost>',
      contact: undefined,
      contactSecret: '',
      turnstile: undefined,
      geo: { files: undefined, map: true, atlas: true, geofeeds: [] },
      download: {
        isRegular: true,
        maxmindUrl: 'https://download.maxmind.com',
        maxmindAccountId: undefined,
        maxmindLicenseKey: undefined,
        dbipUrl: 'https://download.db-ip.com',
        lists: { mirror: undefined },
      },
    })
  })

  it('treats an empty value as unset', () => {
    const names = [...Object.keys(Environment.entries), 'MERIDIAN_TYPO']
    const empty = Object.fromEntries(names.map((name) => [name, '']))
    assert.deepEqual(readConfig(empty), readConfig({}))
  })

  it('reads the given settings', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::',
      MERIDIAN_BASE_URL: 'https://geo.example/api//',
      MERIDIAN_GEO: ' a.mmdb, ,b.mmdb,',
      MERIDIAN_GEO_MMAP: '0',
      MERIDIAN_GEO_ATLAS: '0',
      MERIDIAN_DRAIN_SECONDS: '300',
      MERIDIAN_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      MERIDIAN_LOG_LEVEL: 'silent',
      STRIPE_WEBHOOK_SECRET: 'new,old',
      STRIPE_PRICE_PRO: 'price_2, price_1',
      STRIPE_PRICE_OVERAGE: 'price_3',
      STRIPE_PRICE_MY_PLAN: 'price_4',
    })
    assert.equal(config.port, 0)
    assert.equal(config.host, '::')
    assert.equal(config.baseUrl, 'https://geo.example/api')
    const files = ['a.mmdb', 'b.mmdb']
    assert.deepEqual(config.geo, { files, map: false, atlas: false, geofeeds: [] })
    assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '::1/128'].map(parseNetwork))
    assert.equal(config.drainSeconds, 300)
    assert.equal(config.logLevel, 'silent')
    assert.deepEqual(config.stripe.webhookSecrets, ['new', 'old'])
    assert.deepEqual(config.stripe.prices, { PRO: ['price_2', 'price_1'], MY_PLAN: ['price_4'] })
    assert.equal(config.stripe.overagePrice, 'price_3')
  })

  it('lets Stripe calculate tax only if STRIPE_TAX is automatic', () => {
    assert.equal(readConfig({ STRIPE_TAX: 'automatic' }).stripe.tax, 'automatic')
    assert.throws(() => readConfig({ STRIPE_TAX: 'on' }), /STRIPE_TAX must be off or automatic/)
  })

  it('reads networks of IPv4-mapped addresses as IPv4', () => {
    const { trustedProxies } = readConfig({ MERIDIAN_TRUSTED_PROXIES: '::ffff:10.0.0.0/104' })
    assert.deepEqual(trustedProxies, [parseNetwork('10.0.0.0/8')])
  })

  it('reads the header of the client in any case', () => {
    const { clientHeader } = readConfig({ MERIDIAN_CLIENT_HEADER: 'CF-Connecting-IP' })
    assert.equal(clientHeader, 'cf-connecting-ip')
  })

  const bad = [
    ['MERIDIAN_ADMIN_PORT', ['abc', '65536']],
    ['PORT', ['abc', '-1', '65536', '80 ', '1e3', '0x50', '8787.5', '123456']],
    ['MERIDIAN_MAX_CONNECTIONS', ['9', '1000000', 'many']],
    ['MERIDIAN_NODES', ['0', '65', 'all']],
    ['MERIDIAN_DRAIN_SECONDS', ['-1', '301', '1.5', '10s', '1e2']],
    ['MERIDIAN_BASE_URL', ['geo.example', 'ftp://geo.example', 'https://', 'http:geo.example']],
    ['MERIDIAN_GEO_MMAP', ['true', 'yes', '2']],
    ['MERIDIAN_TRUSTED_PROXIES', NO_NETWORKS],
    ['MERIDIAN_CLIENT_HEADER', NO_HEADERS],
    ['MERIDIAN_DNS_SERVERS', ['dns.example', '192.0.2.1:port', '192.0.2.256']],
    ['MERIDIAN_CONTACT', NO_CONTACTS],
    ['TURNSTILE_VERIFY_URL', ['turnstile']],
    ['MERIDIAN_LOG_LEVEL', ['INFO', 'verbose']],
    ['MERIDIAN_MAXMIND_ACCOUNT_ID', ['abc', '1 2']],
    ['MERIDIAN_MAXMIND_URL', ['maxmind']],
    ['MERIDIAN_DBIP_URL', ['dbip']],
    ['MERIDIAN_LISTS', ['no', 'mirror.example', 'https://mirror.example/?a=1']],
  ] as const
  for (const [name, values] of bad) {
    for (const value of values) {
      it(`refuses ${name}=${value}`, () => {
        const problem = problemsOf({ [name]: value })
        assert.match(problem, new RegExp(`^Cannot read the configuration: ${name} must be `))
        const at = value.lastIndexOf('@')
        const shown = JSON.stringify(at < 0 ? value : `…${value.slice(at)}`)
        assert.ok(problem.endsWith(at < 0 ? `, got ${shown}` : shown.slice(1)), problem)
      })
    }
  }

  it('names every bad variable in one error of one line', () => {
    const problem = problemsOf({ ...Object.fromEntries(bad.map(([n, [v]]) => [n, v])), A: 'x' })
    for (const [name] of bad) assert.ok(problem.includes(`${name} must`), name)
    assert.equal(problem.includes('\n'), false)
  })

  it('names each bad setting once, though it breaks several rules', () => {
    const problem = problemsOf({ MERIDIAN_BASE_URL: 'nope', PORT: 'x' })
    assert.equal(problem.split('MERIDIAN_BASE_URL').length - 1, 1, problem)
    assert.equal(problem.split('PORT').length - 1, 1, problem)
  })

  it('refuses unknown MERIDIAN_ names and ignores all others', () => {
    const own = { MERIDIAN_PORT: '1', MERIDIAN_GEOO: '2' }
    assert.equal(
      problemsOf({ ...own, OTHER: '3', STRIPE_X: '4' }),
      'Cannot read the configuration: unknown setting MERIDIAN_PORT, did you mean PORT?; unknown setting MERIDIAN_GEOO, did you mean MERIDIAN_GEO?',
    )
  })

  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

  it('reads the target of inquiries', () => {
    const contact = (target: string, more: Settings = {}) =>
      readConfig({ MERIDIAN_CONTACT: target, ...more }).contact
    assert.deepEqual(contact('store'), { kind: 'store' })
    const mail = contact('mailto:a@shop.example', { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:25' })
    assert.deepEqual(mail, { kind: 'mail', to: 'a@shop.example' })
    for (const url of ['https://crm.example/hook?a=1', 'http://127.0.0.1:9/x', 'http://[::1]:9/']) {
      assert.deepEqual(contact(url, { MERIDIAN_CONTACT_SECRET: secret }), { kind: 'webhook', url })
    }
  })

  it('names the missing settings for inquiries', () => {
    const mail = problemsOf({ MERIDIAN_CONTACT: 'mailto:support@shop.example' })
    assert.match(mail, /: MERIDIAN_CONTACT sends mail: set MERIDIAN_SMTP_URL$/)
    const webhook = problemsOf({ MERIDIAN_CONTACT: 'https://crm.example' })
    assert.match(webhook, /: MERIDIAN_CONTACT is a webhook: set MERIDIAN_CONTACT_SECRET /)
  })

  it('names the other half of an account at MaxMind', () => {
    const [key, account] = ['MERIDIAN_MAXMIND_LICENSE_KEY', 'MERIDIAN_MAXMIND_ACCOUNT_ID']
    assert.ok(problemsOf({ [key]: 'x' }).endsWith(`: ${key} needs ${account}`))
    assert.ok(problemsOf({ [account]: '1' }).endsWith(`: ${account} needs ${key}`))
  })

  it('reads the key of MaxMind without what files of variables leave around it', () => {
    for (const text of ['abc_mmk', ' abc_mmk ', '"abc_mmk"', "'abc_mmk'\n"]) {
      const env = { MERIDIAN_MAXMIND_ACCOUNT_ID: '1', MERIDIAN_MAXMIND_LICENSE_KEY: text }
      assert.equal(readConfig(env).download.maxmindLicenseKey, 'abc_mmk', text)
    }
  })

  it('does not show an invalid secret', () => {
    for (const bad of [secret.slice(6), secret.slice(0, 30), `${secret} `, `${secret}!`]) {
      const problem = problemsOf({ MERIDIAN_CONTACT_SECRET: bad })
      assert.match(problem, /: MERIDIAN_CONTACT_SECRET must be whsec_ followed by [^"]+ in base64$/)
    }
  })

  it('does not show the address of a mail server, which may hold a password', () => {
    const problem = problemsOf({ MERIDIAN_SMTP_URL: 'user:password@mail.example' })
    const rule = 'must be an smtp or smtps URL, such as smtps://mail.example:465'
    assert.ok(problem.endsWith(`: MERIDIAN_SMTP_URL ${rule}`), problem)
  })

  it('shows no credentials of a URL, whichever variable holds it', () => {
    for (const [name] of bad) {
      const problem = problemsOf({ [name]: 'ftp://ada:pa/ss@w0rd@crm.example/hook' })
      assert.ok(problem.endsWith(', got "ftp://…@crm.example/hook"'), problem)
    }
  })

  it('reads the settings of Turnstile', () => {
    const env = { TURNSTILE_SECRET_KEY: 'x', TURNSTILE_HOSTNAMES: 'Shop.example, www.shop.example' }
    assert.deepEqual(readConfig(env).turnstile, {
      secretKey: 'x',
      hostnames: ['shop.example', 'www.shop.example'],
      verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    })
  })

  it('reads the address for operators, by default on this machine', () => {
    const admin = (env: Settings) => readConfig(env).admin
    assert.deepEqual(admin({ MERIDIAN_ADMIN_PORT: '9091' }), { port: 9091, host: '127.0.0.1' })
    const everywhere = { MERIDIAN_ADMIN_PORT: '0', MERIDIAN_ADMIN_HOST: '::' }
    assert.deepEqual(admin(everywhere), { port: 0, host: '::' })
    assert.equal(admin({ MERIDIAN_ADMIN_HOST: '::' }), undefined)
  })

  it('does not show a whole secret in the wrong variable', () => {
    const secret = 'abcdefgh'.repeat(12)
    for (const [name] of bad) {
      assert.equal(problemsOf({ [name]: secret }).includes(secret), false, name)
    }
  })
})
