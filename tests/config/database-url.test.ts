import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { urlsOfHosts } from '../../lib/parts/net/urls-of-hosts.ts'

const secret = 'phrase '.repeat(8)
const url = 'postgres://ada:hidden@db.example/meridian'

/** Asserts that the settings are refused with one problem, which shows neither password nor secret. */
function assertRefused(env: Record<string, string>, problem: string): void {
  const isRefusal = ({ message }: Error) => {
    assert.ok(message.startsWith(`Cannot read the configuration: ${problem}`), message)
    return !/hid|phrase/.test(message)
  }
  assert.throws(() => readConfig(env), isRefusal)
}

const postgres = { MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: secret }

describe('MERIDIAN_DATABASE_URL', () => {
  it('is a postgres or postgresql URL', () => {
    for (const good of [url, url.replace('postgres', 'postgresql')]) {
      const env = { MERIDIAN_DATABASE_URL: good, MERIDIAN_SECRET: secret }
      assert.deepEqual(readConfig(env).postgres, { url: good, secret, staleKeysSeconds: 300 })
    }
    const others = ['mysql://ada:hidden@db.example/meridian', 'ada:hidden@db.example', '/hidden']
    for (const bad of [...others, 'postgres://ada:hid#den@db.example/meridian']) {
      const env = { MERIDIAN_DATABASE_URL: bad, MERIDIAN_SECRET: secret }
      assertRefused(env, 'MERIDIAN_DATABASE_URL must be a postgres or postgresql URL, such as ')
    }
  })

  it('may name several servers, each with its own port', () => {
    const hosts = 'one.example,two.example:5433,[::1]:5434'
    const several = `postgres://ada:a%2Cb@${hosts}/meridian?sslmode=disable`
    const env = { MERIDIAN_DATABASE_URL: several, MERIDIAN_SECRET: secret }
    assert.equal(readConfig(env).postgres?.url, several)
    assert.deepEqual(
      urlsOfHosts(several),
      hosts.split(',').map((host) => `postgres://ada:a%2Cb@${host}/meridian?sslmode=disable`),
    )
    assert.deepEqual(urlsOfHosts('postgres://ada:a,b@one/c,d'), ['postgres://ada:a,b@one/c,d'])
    for (const hosts of ['one,two:port', 'one,', ',two', 'one,,two']) {
      const bad = { ...env, MERIDIAN_DATABASE_URL: `postgres://ada:hidden@${hosts}/meridian` }
      assertRefused(bad, 'MERIDIAN_DATABASE_URL must be a postgres or postgresql URL, such as ')
    }
  })

  it('needs MERIDIAN_SECRET, which is not short', () => {
    assertRefused({ MERIDIAN_DATABASE_URL: url }, 'MERIDIAN_DATABASE_URL needs MERIDIAN_SECRET, ')
    const short = { ...postgres, MERIDIAN_SECRET: secret.slice(0, 31) }
    assertRefused(short, 'MERIDIAN_SECRET must have at least 32 characters')
  })

  it('is what MERIDIAN_SECRET is for', () => {
    const problem = 'MERIDIAN_SECRET encrypts secrets in PostgreSQL: set MERIDIAN_DATABASE_URL'
    assertRefused({ MERIDIAN_SECRET: secret }, problem)
  })

  it('cannot be combined with Litestream', () => {
    const problem = 'MERIDIAN_REPLICATED is for SQLite: unset it or MERIDIAN_DATABASE_URL'
    assertRefused({ ...postgres, MERIDIAN_REPLICATED: '1' }, problem)
  })
})

describe('MERIDIAN_NODES', () => {
  it('is the number of processes', () => {
    assert.equal(readConfig({ ...postgres, MERIDIAN_NODES: '4' }).processes, 4)
    assert.equal(readConfig({ MERIDIAN_NODES: '1' }).processes, 1)
  })

  it('needs MERIDIAN_DATABASE_URL if it is above 1', () => {
    assertRefused(
      { MERIDIAN_NODES: '2' },
      'MERIDIAN_NODES above 1 needs PostgreSQL: set MERIDIAN_DATABASE_URL, or unset MERIDIAN_NODES',
    )
  })
})

describe('MERIDIAN_ADMIN_PORT of several processes', () => {
  const processes = (port: string, first: string) => {
    return { ...postgres, MERIDIAN_NODES: '3', PORT: port, MERIDIAN_ADMIN_PORT: first }
  }

  it('is the first of ports that no other one needs', () => {
    for (const first of ['8784', '8788', '0']) readConfig(processes('8787', first))
    readConfig(processes('0', '65533'))
  })

  it('is refused if one of them is PORT, or they are too few', () => {
    for (const [first, problem] of [
      ['8785', '3 processes use 8785 to 8787, but PORT is 8787'],
      ['8787', '3 processes use 8787 to 8789, but PORT is 8787'],
      ['65534', '3 processes use 65534 to 65536, but the last port is 65535'],
    ] as const) {
      assertRefused(processes('8787', first), `MERIDIAN_ADMIN_PORT: ${problem}`)
    }
  })
})
