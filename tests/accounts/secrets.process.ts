import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import * as v from 'valibot'
import { newDataFolder, runScript, startServer, storedBytes } from '../support/process.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const Token = v.object({ token: v.string() })
const RawKey = v.object({ rawKey: v.string() })

describe('keys, session tokens and passwords', () => {
  it('are in no file of the database and in no line of the log', async () => {
    const server = await startServer({ ...settings, MERIDIAN_LOG_LEVEL: 'trace' })
    const secrets = new Map<string, string>()
    const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const password = `secret ${crypto.randomUUID()}`
    const wrong = `wrong ${crypto.randomUUID()}`
    const email = 'ada@example.com'
    secrets.set('password', password).set('wrong password', wrong)

    const signedUp = await post('/api/auth/sign-up/email', { email, password, name: 'Ada' })
    const first = v.parse(Token, await signedUp.json()).token
    secrets.set('token', first)
    secrets.set('signed token', signedUp.headers.get('set-auth-token') ?? '')
    await post('/api/auth/sign-in/email', { email, password: wrong })
    const signedIn = await post('/api/auth/sign-in/email', { email, password })
    const token = v.parse(Token, await signedIn.json()).token
    secrets.set('second token', token)
    const session = { authorization: `Bearer ${token}` }

    const made = await post('/v1/account/me/keys', { name: 'first' }, session)
    const key = v.parse(RawKey, await made.json()).rawKey
    secrets.set('key', key).set('key without its prefix', key.slice(16))
    const other = await runScript(['scripts/key.ts', '--email', email, '--name', 'cli'], settings)
    secrets.set('key of the command line', other.stdout.trim())
    const bad = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`

    const sent: Record<string, string>[] = [
      ...[session, { 'x-api-key': key }, { 'x-api-key': bad }],
      ...[key, `${token}x`].map((text) => ({ authorization: `Bearer ${text}` })),
    ]
    for (const headers of sent) {
      await (await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).text()
      await (await fetch(`${server.url}/v1/account/me/keys`, { headers })).text()
    }
    await fetch(`${server.url}/v1/ip/${key}?key=${key}`, { headers: session })
    const passwords = { currentPassword: wrong, newPassword: password }
    await post('/api/auth/change-password', passwords, session)
    await post('/api/auth/sign-out', {}, session)

    const running = storedBytes(dataDir)
    const { code, stdout, stderr } = await server.stop('SIGTERM')
    assert.equal(code, 0)
    assert.match(stdout, /"route":"\/api\/auth\/sign-in\/email"/)
    assert.ok(running.includes(email))
    for (const [name, secret] of secrets) {
      assert.ok(secret.length >= 24, name)
      for (const [where, text] of [
        ['database', running],
        ['stopped database', storedBytes(dataDir)],
        ['output', Buffer.from(stdout)],
        ['errors', Buffer.from(stderr)],
      ] as const) {
        assert.equal(text.includes(secret), false, `${name} in the ${where}`)
      }
    }
  })
})
