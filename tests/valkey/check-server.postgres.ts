import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { requireUsableServer } from '../../lib/valkey/check-server.ts'
import { openValkey } from '../../lib/valkey/open-valkey.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { startValkey, type ValkeyServer } from '../support/database/valkey-server.ts'
import { newDataFolder, runScript } from '../support/process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const PASSWORD = crypto.randomUUID()
const secret = 'a phrase that nobody guesses '.repeat(2)

const root = tempFolder()
let server: ValkeyServer
let guarded: ValkeyServer

before(async () => {
  server = await startValkey()
  guarded = await startValkey({ requirepass: PASSWORD })
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await guarded[Symbol.asyncDispose]()
})

function withParts(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href
}

async function open(url: string): Promise<void> {
  const options = { now: Date.now, onError: assert.ifError }
  await (await openValkey(url, options))[Symbol.asyncDispose]()
}

/** Asserts that the start fails with one line that names the server, but no password. */
async function assertRefused(url: string, reason: RegExp): Promise<void> {
  await assert.rejects(open(url), ({ message }: Error) => {
    const place = `Cannot use the Valkey or Redis server at ${new URL(url).host}: `
    assert.ok(message.startsWith(place), message)
    assert.match(message.slice(place.length), reason)
    assert.doesNotMatch(message, new RegExp(`\n|${PASSWORD}`))
    return true
  })
}

/** Adds a user with these rights. Returns the URL with which it signs in. */
async function addUser(name: string, rights: string): Promise<string> {
  const user = `ACL SETUSER ${name} reset on >${PASSWORD} ${rights}`
  const answer = await guarded.ask(`AUTH ${PASSWORD}\r\n${user}`)
  assert.match(answer, /^\+OK\r\n\+OK\r\n/)
  return withParts(guarded.url, { username: name, password: PASSWORD })
}

/** Starts a server that also takes TLS, with a certificate for the loopback address that it signs itself. */
async function startEncrypted() {
  const folder = mkdtempSync(join(root, 'tls-'))
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const names = ['-subj', '/CN=limits', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', ...kind, ...names, ...files], { stdio: 'ignore' })
  const port = await findFreePort()
  const server = await startValkey({
    bind: '127.0.0.1 127.0.0.2',
    'tls-port': String(port),
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': certificate,
    'tls-auth-clients': 'no',
  })
  const url = `valkeys://127.0.0.1:${port}`
  return { url, authority: certificate, [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
}

describe('the start with MERIDIAN_LIMITS_URL', () => {
  it('succeeds on a server, and with the password of another', async () => {
    await open(server.url)
    await open(`${server.url}/3`)
    await open(withParts(guarded.url, { password: PASSWORD }))
  })

  it('is refused if nothing listens, or there is no such host', async () => {
    const port = String(await findFreePort())
    await assertRefused(
      withParts(server.url, { port, password: PASSWORD }),
      /ECONNREFUSED.*; start it, or correct host and port$/,
    )
    await assertRefused(
      'valkey://limits.invalid:6379',
      /(ENOTFOUND|EAI_AGAIN) limits\.invalid; correct the host$/,
    )
  })

  it('is refused with a wrong password, or none', async () => {
    await assertRefused(
      withParts(guarded.url, { password: `${PASSWORD.slice(1)}0` }),
      /^WRONGPASS .*; correct user and password$/,
    )
    await assertRefused(guarded.url, /^NOAUTH .*; correct user and password$/)
  })

  it('needs few rights, and is refused with fewer', async () => {
    const rights = '~meridian:bucket:* +info +eval +evalsha +time +get +set +del'
    await open(await addUser('enough', rights))
    const advice = /; give the user INFO, EVAL, EVALSHA, TIME, GET, SET and DEL on meridian:bucket/
    await assertRefused(await addUser('blind', rights.replace('+info', '')), advice)
    await assertRefused(await addUser('weak', rights.replace('+set', '')), advice)
  })

  it('is refused by a replica, and by a server of a cluster', async () => {
    assert.match(await server.ask(`REPLICAOF 127.0.0.1 ${await findFreePort()}`), /^\+OK/)
    await assertRefused(server.url, /^it is a replica, which only reads; name the primary$/)
    assert.match(await server.ask('REPLICAOF NO ONE'), /^\+OK/)
    await using member = await startValkey({ 'cluster-enabled': 'yes' })
    await assertRefused(member.url, /^it runs in cluster mode, which is not supported; use a serv/)
  })

  it('is refused by a Redis that is too old', async () => {
    const old = {
      send: async () => '# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n',
      run: async () => '1 1',
      [Symbol.asyncDispose]: async () => {},
    }
    await assert.rejects(
      requireUsableServer(old),
      /its version is 6\.2\.14; use Valkey, or Redis 7 or n/,
    )
  })

  it('is refused without the database of this number', async () => {
    await assertRefused(`${server.url}/99`, /^ERR DB index.*; correct the number of the database$/)
  })

  it('is refused if only one side uses TLS', async () => {
    const advice =
      /; check that it is up, and that the URL begins with valkeys or rediss exactly if it uses TLS$/
    await assertRefused(server.url.replace('valkey:', 'valkeys:'), advice)
    await using encrypted = await startEncrypted()
    await assertRefused(encrypted.url.replace('valkeys:', 'valkey:'), advice)
  })

  it('checks the certificate of a server with TLS', async () => {
    await using encrypted = await startEncrypted()
    const { url, authority } = encrypted
    await assertRefused(url, /certificate.*; name its authority in NODE_EXTRA_CA_CERTS, or correct/)
    const open = `import { openValkey } from './lib/valkey/open-valkey.ts'
      await (await openValkey(process.argv[1], { now: Date.now }))[Symbol.asyncDispose]()
      console.log('opened')`
    const run = (place: string) =>
      runScript(['--input-type=module', '--eval', open, place], { NODE_EXTRA_CA_CERTS: authority })
    assert.equal((await run(url)).stdout, 'opened\n')
    assert.match((await run(withParts(url, { hostname: '127.0.0.2' }))).stderr, /ALTNAME/)
  })

  it('is refused by a server that has stalled', async () => {
    server.pause()
    await assertRefused(server.url, /^no answer in 2 s; check that it is up/)
    server.resume()
  })

  it('prints one line and ends', async () => {
    const { settings, remove } = newDataFolder()
    const port = String(await findFreePort())
    const { code, stderr, stdout } = await runScript(['server.ts'], {
      ...settings,
      MERIDIAN_DATABASE_URL: `postgres://meridian@127.0.0.1:${port}/meridian`,
      MERIDIAN_SECRET: secret,
      MERIDIAN_LIMITS_URL: withParts(server.url, { port, password: PASSWORD }),
    })
    remove()
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot use the Valkey or Redis server at 127\.0\.0\.1:\d+: .*\n$/)
    assert.equal(`${stdout}${stderr}`.includes(PASSWORD), false)
  })
})
