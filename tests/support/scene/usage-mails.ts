import assert from 'node:assert/strict'
import { readValue } from '../database/sql.ts'
import type { TestApp } from '../helpers.ts'
import { plansFile } from '../plans-file.ts'
import { nextLink } from '../sign-in.ts'
import { freshMailScene } from './mail.ts'
import { visitPage } from './pages.ts'

export const MAILS = '/v1/account/me/usage/mails'
export const RECEIVERS = '/v1/account/me/usage/receivers'
export const BOB = 'bob@shop.example'
export const BASE = 'https://geo.example'

/** The session of an account that has just been made. */
export type SignedUp = Awaited<ReturnType<ReturnType<TestApp['user']>['signUpByMail']>>

/** A service that mails about usage, and Ada, who may name further receivers. */
export function usageMailsScene() {
  const { app, mail } = freshMailScene({
    MERIDIAN_PLANS: plansFile(),
    MERIDIAN_BASE_URL: BASE,
  })
  const ada = app.user('ada')
  return {
    app,
    mail,
    ada,
    /** Ada has signed up, and has a key of a plan with a cap of 10 requests. */
    begin: async () => {
      const session = await ada.signUpByMail(mail)
      const key = await app.makeKey({ plan: 'tiny' })
      await app.services.mails.retry()
      while (mail.left() > 0) await mail.next()
      return { session, key }
    },
    count: async (at: TestApp, key: string, requests: number) => {
      for (let n = 0; n < requests; n++) await at.send('GET', '/v1/ip/81.2.69.160', { key })
      await at.services.ledger.flush()
    },
    /** Adds the receiver. Returns the path of the link in the mail. */
    invite: async (session: SignedUp, email = BOB) => {
      const added = await session.send('POST', RECEIVERS, { email })
      assert.equal(added.status, 200, added.text)
      const { pathname, search } = await nextLink(mail)
      return `${pathname}${search}`
    },
    idOf: async (email: string) =>
      String(await readValue(app, 'SELECT id FROM usage_receivers WHERE email = ?', email)),
    /** Sends the form of the page of a link. */
    submitLink: (link: string) => {
      const { pathname, searchParams } = new URL(link, BASE)
      return visitPage(app, pathname, { form: Object.fromEntries(searchParams) })
    },
  }
}
