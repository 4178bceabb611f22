import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { UserProfile } from '../../lib/contract/account/account-schemas.ts'
import type { Answer } from '../support/contract-check.ts'
import { write } from '../support/database/sql.ts'
import { codeOf } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const PROFILE = '/v1/account/me'

const app = sharedScene()
const ada = app.user('ada')
const eve = app.user('eve')
const gone = app.user('gone')

function profileOf({ body }: Answer): UserProfile {
  return v.parse(UserProfile, body)
}

describe('GET /v1/account/me', () => {
  it('shows the profile of the user of the key, and no other stored field', async () => {
    await ada.key()
    const user = await findUserByEmail(app.services.db, 'ada@example.com')
    const { status, body } = await ada.send('GET', PROFILE)
    assert.equal(status, 200)
    const [id, email] = [user?.id, 'ada@example.com']
    const since = '2026-01-15T12:00:00.000Z'
    assert.deepEqual(body, { id, name: null, email, emailVerified: false, createdAt: since })
  })

  it('shows the name and the verified address as they are now', async () => {
    await eve.key()
    const change = "UPDATE users SET name = ?, email_verified = 1 WHERE email = 'eve@example.com'"
    await write(app, change, 'Eve "O\'Brien" ✓')
    const { name, emailVerified } = profileOf(await eve.send('GET', PROFILE))
    assert.equal(name, 'Eve "O\'Brien" ✓')
    assert.equal(emailVerified, true)
  })

  it('shows each user their own profile', async () => {
    const emails = ['one@example.com', 'two@example.com', 'three@example.com']
    const keys = await Promise.all(emails.map((email) => app.makeKey({ email })))
    const answers = await Promise.all(keys.map((key) => app.send('GET', PROFILE, { key })))
    const profiles = answers.map(profileOf)
    const shown = profiles.map(({ email }) => email)
    assert.deepEqual(shown, emails)
    assert.equal(new Set(profiles.map(({ id }) => id)).size, 3)
  })

  it('answers 401 if the user is removed during the request', async () => {
    await gone.key()
    await gone.send('GET', PROFILE)
    // The key ring does not see this write, since it uses the connection of the service.
    await write(app, "DELETE FROM users WHERE email = 'gone@example.com'")
    assert.equal(codeOf(await gone.send('GET', PROFILE)), 'UNAUTHORIZED')
  })
})
