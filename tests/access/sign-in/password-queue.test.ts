import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeOf } from '../../support/helpers.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { type AuthOptions, PASSWORD, sendAuth } from '../../support/sign-in.ts'
import { words } from '../../support/words.ts'

// run: only on SQLite, because it counts turns in which SQLite answers at once

/** Of another account each time, since attempts are limited by account. */
const login = () => ({ email: `${crypto.randomUUID()}@example.com`, password: PASSWORD })

describe('requests that hash a password', () => {
  let asked = 0
  let answering: PromiseWithResolvers<void>
  const handleAuth = async ({ path }: { readonly path: string }) => {
    asked += 1
    if (path !== '/api/auth/get-session') await answering.promise
    return Response.json({})
  }
  const app = sharedScene({ replace: () => ({ handleAuth }) })

  const signIns = (count: number, options?: AuthOptions) =>
    Array.from({ length: count }, () => sendAuth(app, '/sign-in/email', login(), options))
  const statusesOf = async (answers: ReturnType<typeof signIns>) => [
    ...new Set((await Promise.all(answers)).map(({ status }) => status)),
  ]

  it('are answered 503 if two run and twenty wait', async () => {
    answering = Promise.withResolvers()
    const accepted = signIns(22)
    for (const path of words('/sign-in/email /sign-up/email /reset-password /change-password')) {
      assert.equal(codeOf(await sendAuth(app, path, login())), 'SERVICE_UNAVAILABLE', path)
    }
    assert.equal((await sendAuth(app, '/get-session')).status, 200)
    answering.resolve()
    assert.deepEqual(await statusesOf(accepted), [200])
  })

  it('leave the queue when their clients leave, at /api/auth and in the dashboard', async () => {
    answering = Promise.withResolvers()
    asked = 0
    const running = signIns(2)
    const leaving = new AbortController()
    const { signal } = leaving
    const left = signIns(19, { signal })
    const page = visitPage(app, '/app/sign-in', { form: login(), signal })
    leaving.abort()
    assert.deepEqual(await statusesOf(left), [503])
    assert.equal((await page).status, 503)
    const staying = signIns(20)
    answering.resolve()
    assert.deepEqual(await statusesOf([...running, ...staying]), [200])
    assert.equal(asked, 22)
  })

  it('of one address do not fill the queue, and known browsers have places of their own', async () => {
    answering = Promise.withResolvers()
    const oneAddress = signIns(9, { from: '203.0.113.9' })
    const others = signIns(15)
    const full = await sendAuth(app, '/sign-in/email', login())
    assert.equal(codeOf(full), 'SERVICE_UNAVAILABLE')
    const form = login()
    const cookie = `meridian_device=${await app.services.devices.remember(form.email, '')}`
    const known = visitPage(app, '/app/sign-in', { form, cookie })
    assert.equal((await visitPage(app, '/app/sign-in', { form: login() })).status, 503)
    answering.resolve()
    const refused = (await Promise.all(oneAddress)).filter(({ status }) => status === 503)
    assert.equal(refused.length, 2)
    assert.deepEqual(await statusesOf(others), [200])
    assert.equal((await known).status, 200)
  })
})
