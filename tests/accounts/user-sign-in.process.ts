import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'
import { codeAt } from '../support/authenticator.ts'
import { runScript } from '../support/process.ts'
import { inherited, RUNTIME } from '../support/runtime.ts'
import { sharedServer } from '../support/scene/server.ts'

const { server, dataDir, settings } = sharedServer()
const db = openDb(join(dataDir, 'app.db'))
after(() => {
  db.$client.close()
})

const PASSWORD = `correct horse ${crypto.randomUUID()}`
const user = (...options: string[]) => runScript(['scripts/user.ts', ...options], settings)
const key = (email: string) =>
  runScript(['scripts/key.ts', '--email', email, '--name', 'first'], settings)

/** Runs `npm run user` with `input` in a pipe. */
async function piped(input: string, ...options: string[]) {
  const [program, ...flags] = RUNTIME
  const child = spawn(program, [...flags, 'scripts/user.ts', ...options], {
    env: { ...inherited(), ...settings },
  })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

async function post(path: string, body: object, authorization?: string) {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.text() }
}
const postAuth = (path: string, body: object) => post(`/api/auth${path}`, body)

const signIn = (email: string, password = PASSWORD) =>
  postAuth('/sign-in/email', { email, password })

const audited = (action: string) =>
  db.$client
    .prepare('SELECT app, actor_label, detail FROM audit_log WHERE action = ? ORDER BY id')
    .raw()
    .all(action)

describe('npm run user, while the server runs', () => {
  it('--set-password lets the user sign in, and ends the sessions', async () => {
    const email = 'ada@example.com'
    await key(email)
    const { stderr } = await piped(`${PASSWORD}\n`, '--email', email, '--set-password')
    assert.match(stderr, /^Set the password of ada@example\.com/m)
    const { status, body } = await signIn(email)
    assert.equal(status, 200, body)
    await piped(`${PASSWORD} 2\n`, '--email', email, '--set-password')
    const headers = { authorization: `Bearer ${JSON.parse(body).token}` }
    assert.equal((await fetch(`${server.url}/v1/account/me`, { headers })).status, 401)
    assert.equal((await signIn(email)).status, 401)
    assert.equal((await signIn(email, `${PASSWORD} 2`)).status, 200)
    const row = ['cli', 'npm run user', null]
    assert.deepEqual(audited('set_password'), [row, row])
  })

  it('--set-password refuses bad passwords and takes none as an argument', async () => {
    const options = ['--email', 'ada@example.com', '--set-password']
    assert.match((await piped('short\n', ...options)).stderr, /at least 8 characters/)
    assert.match((await piped('password1234\n', ...options)).stderr, /too easy to guess/)
    assert.match((await piped('', ...options)).stderr, /no line on the standard input/)
    assert.match((await user(...options, PASSWORD)).stderr, /Unexpected argument/)
    const unknown = ['--email', 'no@example.com', '--set-password']
    assert.match((await piped('x\n', ...unknown)).stderr, /no user/)
    assert.equal((await signIn('ada@example.com', `${PASSWORD} 2`)).status, 200)
  })

  it('--link sets the password once, and so claims an account of npm run key', async () => {
    const email = 'bob@example.com'
    const made = await key(email)
    assert.match(made.stderr, /npm run user -- --email bob@example\.com --link\n$/)
    const { stdout } = await user('--email', email, '--link')
    const link = new URL(stdout.trim())
    assert.equal(link.pathname, '/app/reset')
    const token = link.searchParams.get('token')
    const reset = { token, newPassword: PASSWORD }
    assert.equal((await postAuth('/reset-password', reset)).status, 200)
    assert.equal((await postAuth('/reset-password', reset)).status, 400)
    const { body } = await signIn(email)
    const headers = { authorization: `Bearer ${JSON.parse(body).token}` }
    const keys = await (await fetch(`${server.url}/v1/account/me/keys`, { headers })).text()
    assert.equal(JSON.parse(keys).length, 1, 'the key of the command line stays')
    assert.deepEqual(audited('link_account'), [['cli', 'npm run user', null]])
    assert.doesNotMatch((await key(email)).stderr, /--link/)
  })

  it('--link is good for an hour', async () => {
    await user('--email', 'late@example.com')
    const { stdout } = await user('--email', 'late@example.com', '--link')
    db.$client.exec('UPDATE verifications SET expires_at = expires_at - 3600000')
    const token = new URL(stdout.trim()).searchParams.get('token')
    const answer = await postAuth('/reset-password', { token, newPassword: PASSWORD })
    assert.equal(answer.status, 400)
  })

  it('--reset-second-factor lets a person in who lost app and recovery codes', async () => {
    const email = 'lost@example.com'
    const options = ['--email', email, '--reset-second-factor']
    await key(email)
    await piped(`${PASSWORD}\n`, '--email', email, '--set-password')
    assert.match((await user(...options)).stderr, /lost@example\.com has no second factor\n$/)
    const { token } = JSON.parse((await signIn(email)).body)
    const call = async (path: string, body: object) => {
      const answer = await post(`/v1/account/me/second-factor${path}`, body, `Bearer ${token}`)
      return JSON.parse(answer.body)
    }
    const { secret } = await call('', { password: PASSWORD })
    const { recoveryCodes } = await call('/confirm', { code: await codeAt(secret, Date.now()) })
    const { challenge } = JSON.parse((await signIn(email)).body)
    const verify = (code: string) => postAuth('/two-factor/verify', { challenge, code })
    assert.equal((await verify('000-000')).status, 401)
    assert.match((await verify(recoveryCodes[0])).body, /"token":/)
    assert.match((await signIn(email)).body, /"challenge":/)
    assert.match((await user(...options)).stderr, /Turned off the second factor of lost@/)
    assert.match((await signIn(email)).body, /"token":/)
    assert.deepEqual(audited('disable_two_factor'), [['cli', 'npm run user', null]])
  })

  it('--role sets the role, and --list shows it', async () => {
    const options = ['--email', 'ada@example.com', '--role', 'operator']
    const set = await user(...options)
    assert.match(set.stderr, /from user to operator\n$/)
    assert.doesNotMatch(set.stderr, /has the plan/)
    assert.match((await user(...options)).stderr, /has the role operator\n$/)
    assert.match((await user('--list')).stdout, /^ada@example\.com +unlimited +operator /m)
    assert.match((await user('--list')).stdout, /^bob@example\.com +unlimited +user /m)
    const unknown = await user('--email', 'ada@example.com', '--role', 'root')
    assert.match(unknown.stderr, /^--role must be/)
    assert.deepEqual(audited('set_role'), [['cli', 'npm run user', 'operator']])
  })

  it('--delete asks for the address, or goes on with --yes', async () => {
    const email = 'gone@example.com'
    const text = (await key(email)).stdout.trim()
    const lookUp = () =>
      fetch(`${server.url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': text } })
    assert.equal((await lookUp()).status, 200)
    const other = await piped('other@example.com\n', '--email', email, '--delete')
    assert.match(other.stderr, /nothing was deleted/)
    assert.equal((await lookUp()).status, 200)
    const silent = await piped('', '--email', email, '--delete')
    assert.match(silent.stderr, /no line on the standard input: give --yes to go on\n$/)
    const done = await piped('GONE@example.com\n', '--email', email, '--delete')
    assert.match(done.stderr, /Deleted the account gone@example\.com\n$/)
    assert.equal((await lookUp()).status, 401)
    await user('--email', email)
    assert.equal((await user('--email', email, '--delete', '--yes')).code, 0)
    assert.match((await user('--email', email, '--delete', '--yes')).stderr, /There is no user/)
    assert.match((await user('--email', email, '--link')).stderr, /^There is no user [^\n]*\n$/)
    const row = ['cli', 'npm run user', null]
    assert.deepEqual(audited('delete_account'), [row, row])
  })

  it('refuses options that do not go together', async () => {
    const ada = ['--email', 'ada@example.com']
    const bad = [
      [...ada, '--set-password', '--plan', 'pro'],
      [...ada, '--link', '--delete'],
      [...ada, '--reset-second-factor', '--plan', 'pro'],
      [...ada, '--list', '--role', 'user'],
      ['--delete', '--yes'],
    ]
    for (const options of bad) assert.equal((await user(...options)).code, 2, options.join(' '))
  })

  it('does not set passwords that a remote auth service keeps', async () => {
    const env = { ...settings, MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' }
    const args = ['scripts/user.ts', '--email', 'ada@example.com', '--link']
    const { code, stderr } = await runScript(args, env)
    assert.deepEqual([code, stderr.includes('kept by the auth service')], [1, true])
  })
})
