import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Environment, RESERVED, readConfig } from '../../lib/config.ts'
import { parseNetwork } from '../../lib/network.ts'

function problemsOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

describe('readConfig', () => {
  it('needs no setting at all', () => {
    assert.deepEqual(readConfig({}), {
      port: 8787,
      host: '127.0.0.1',
      dataDir: 'data',
      baseUrl: undefined,
      logLevel: 'info',
      plansFile: undefined,
      stripePrices: { starter: undefined, pro: undefined },
      trustedProxies: [],
      authUrl: undefined,
      allowSignUp: true,
      smtpUrl: undefined,
      mailFrom: 'Meridian <meridian@localhost>',
      geo: { files: undefined, map: true },
      download: {
        maxmindUrl: 'https://download.maxmind.com',
        maxmindAccountId: undefined,
        maxmindLicenseKey: undefined,
        dbipUrl: 'https://download.db-ip.com',
      },
    })
  })

  it('takes an empty text for no text', () => {
    const names = [...Object.keys(Environment.entries), ...RESERVED, 'MERIDIAN_TYPO']
    const empty = Object.fromEntries(names.map((name) => [name, '']))
    assert.deepEqual(readConfig(empty), readConfig({}))
  })

  it('reads every setting', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::',
      MERIDIAN_BASE_URL: 'https://geo.example/api//',
      MERIDIAN_GEO: ' a.mmdb, ,b.mmdb,',
      MERIDIAN_GEO_MMAP: '0',
      MERIDIAN_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      MERIDIAN_LOG_LEVEL: 'silent',
      STRIPE_PRICE_PRO: 'price_1',
    })
    assert.equal(config.port, 0)
    assert.equal(config.host, '::')
    assert.equal(config.baseUrl, 'https://geo.example/api')
    assert.deepEqual(config.geo, { files: ['a.mmdb', 'b.mmdb'], map: false })
    assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '::1/128'].map(parseNetwork))
    assert.equal(config.logLevel, 'silent')
    assert.deepEqual(config.stripePrices, { starter: undefined, pro: 'price_1' })
  })

  const bad = [
    ['PORT', ['abc', '-1', '65536', '80 ', '1e3', '0x50', '8787.5', '123456']],
    ['MERIDIAN_BASE_URL', ['geo.example', 'ftp://geo.example', 'https://', 'http:geo.example']],
    ['MERIDIAN_GEO_MMAP', ['true', 'yes', '2']],
    ['MERIDIAN_TRUSTED_PROXIES', ['10.0.0.0/33', '10.0.0.1/8', 'all', '10.0.0.0/8;::1']],
    ['MERIDIAN_LOG_LEVEL', ['INFO', 'verbose']],
    ['MERIDIAN_MAXMIND_ACCOUNT_ID', ['abc', '1 2']],
    ['MERIDIAN_MAXMIND_URL', ['maxmind']],
    ['MERIDIAN_DBIP_URL', ['dbip']],
  ] as const
  for (const [name, values] of bad) {
    for (const value of values) {
      it(`refuses ${name}=${value}`, () => {
        const problem = problemsOf({ [name]: value })
        assert.match(problem, new RegExp(`^Cannot read the configuration: ${name} must be `))
        assert.ok(problem.endsWith(`, got ${JSON.stringify(value)}`), problem)
      })
    }
  }

  it('names every bad variable in one error of one line', () => {
    const problem = problemsOf({ ...Object.fromEntries(bad.map(([n, [v]]) => [n, v])), A: 'x' })
    for (const [name] of bad) assert.ok(problem.includes(`${name} must`), name)
    assert.equal(problem.includes('\n'), false)
  })

  it('refuses names of its own that it does not know, and leaves others alone', () => {
    const problem = problemsOf({
      MERIDIAN_PORT: '1',
      MERIDIAN_GEOO: '2',
      OTHER: '3',
      STRIPE_X: '4',
    })
    assert.equal(
      problem,
      'Cannot read the configuration: MERIDIAN_PORT is no setting; MERIDIAN_GEOO is no setting',
    )
  })

  it('takes the reserved names', () => {
    for (const name of RESERVED) assert.equal(problemsOf({ [name]: 'x' }), '', name)
  })

  it('does not show a whole secret that stands in the wrong place', () => {
    const secret = 'abcdefgh'.repeat(12)
    for (const [name] of bad) {
      assert.equal(problemsOf({ [name]: secret }).includes(secret), false, name)
    }
  })
})
