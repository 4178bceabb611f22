import { runInTransaction } from '../../../lib/db/transaction.ts'
import { codeAt } from '../../support/authenticator.ts'
import { write } from '../../support/database/sql.ts'
import { askForReset, nextLink, PASSWORD, sendAuth } from '../../support/sign-in.ts'
import {
  addLink,
  asBuyer,
  asConfirmedReceiver,
  asGuest,
  asOperator,
  asReceiver,
  asUser,
  differsFromStripe,
  EMAIL,
  type FormCase,
  failedInquiry,
  failedNotice,
  keptForm,
  NEW_PASSWORD,
  post,
  RECEIVER,
  SITE,
  subscribe,
  turnOnFactor,
  withCode,
  withKey,
  withOtherSession,
  withReceiver,
  withSite,
  withVitals,
} from './scenes.ts'

const ACCOUNT = { accountId: '123456', licenseKey: 'made_up_key' }
const enteringAccount = asOperator('/app/operate/databases', undefined, ACCOUNT)
const inviting = asOperator('/app/operate/people/new/account', undefined, {
  newEmail: 'zoe@example.com',
})

/** Each form of the service, and what a visitor enters. */
export const FORM_CASES: readonly FormCase[] = [
  { route: '/app/sign-in', open: asGuest('/app/sign-in', { email: EMAIL, password: PASSWORD }) },
  {
    route: '/app/sign-in',
    name: 'a wrong password',
    open: asGuest('/app/sign-in', { email: EMAIL, password: 'x' }),
  },
  { route: '/app/sign-in/code', open: withCode('code') },
  { route: '/app/sign-in/code', name: 'a recovery code', open: withCode('recoveryCode') },
  { route: '/app/sign-out', open: asUser('/app') },
  {
    route: '/app/sign-up',
    open: asGuest('/app/sign-up', { name: 'Ida', email: 'ida@example.com', password: PASSWORD }),
  },
  {
    route: '/app/sign-up',
    name: 'without mail',
    sendsMail: false,
    open: asGuest('/app/sign-up', { name: 'Ida', email: 'ida@example.com', password: PASSWORD }),
  },
  { route: '/app/forgot', open: asGuest('/app/forgot', { email: EMAIL }) },
  {
    route: '/app/verify',
    open: async ({ shop: { app } }) => {
      const email = 'ida@example.com'
      await sendAuth(app, '/sign-up/email', { name: 'Ida', email, password: PASSWORD })
      return { page: '/app/verify', fields: { email } }
    },
  },
  {
    route: '/app/reset',
    open: async ({ shop: { app }, mail }) => {
      const reset = await askForReset(app, mail, EMAIL)
      return { page: `/app/reset?token=${reset}`, fields: { password: NEW_PASSWORD } }
    },
  },
  { route: '/app/keys', open: asUser('/app/keys/new', { name: 'Shop' }) },
  { route: '/app/keys', name: 'the first key', open: asUser('/app') },
  { route: '/app/keys', name: 'on the first page', open: asUser('/') },
  { route: '/app/keys', name: 'a kept form', open: keptForm },
  { route: '/app/keys/:id/revoke', open: withKey('/app/keys/:id/revoke') },
  { route: '/app/keys/:id/renew', open: withKey('/app/keys') },
  { route: '/app/keys/:id/rotate', open: withKey('/app/keys/:id/rotate') },
  { route: '/app/billing/checkout', open: asUser('/app/billing') },
  { route: '/app/billing/change', open: asBuyer('starter', '/app/billing/change?plan=pro') },
  { route: '/app/billing/portal', open: asBuyer('starter', '/app/billing') },
  { route: '/app/billing/cancel', open: asBuyer('starter', '/app/billing') },
  {
    route: '/app/billing/reactivate',
    open: async (stage) => {
      await subscribe(stage, 'starter')
      await stage.send('DELETE', '/v1/billing/subscription')
      return { page: '/app/billing', token: stage.token }
    },
  },
  {
    route: '/app/billing/overages',
    open: asBuyer('pro', '/app/billing/overages', { overages: true }),
  },
  {
    route: '/app/billing/overages/cap',
    open: asBuyer('pro', '/app/billing/overages', { amount: '20.00' }),
  },
  { route: '/app/account/name', open: asUser('/app/account', { name: 'Grace Hopper' }) },
  {
    route: '/app/account/password',
    open: asUser('/app/account', { current: PASSWORD, password: NEW_PASSWORD }),
  },
  {
    route: '/app/account/verify',
    open: async ({ shop: { app }, token }) => {
      await write(app, 'UPDATE users SET email_verified = ? WHERE email = ?', 0, EMAIL)
      return { page: '/app/account', token }
    },
  },
  { route: '/app/usage/mails', open: asUser('/app/usage/mails', { thresholds: '50, 100' }) },
  { route: '/app/usage/mails/receivers', open: asUser('/app/usage/mails', { email: RECEIVER }) },
  { route: '/app/usage/mails/receivers/:id/remove', open: withReceiver },
  { route: '/app/usage-mails', open: asReceiver },
  { route: '/app/stop-mails', open: asConfirmedReceiver },
  { route: '/app/vitals/links', open: withVitals() },
  { route: '/app/vitals/links/:id/revoke', open: withVitals(addLink) },
  { route: '/app/vitals/mails', open: withVitals() },
  { route: '/app/account/sign-out-everywhere', open: withOtherSession },
  { route: '/app/account/sessions/end', open: withOtherSession },
  { route: '/app/account/sessions/end-others', open: withOtherSession },
  {
    route: '/app/account/email',
    open: asUser('/app/account', { newEmail: 'ida@example.com', emailPassword: PASSWORD }),
  },
  {
    route: '/app/account/email',
    name: 'without mail',
    sendsMail: false,
    open: asUser('/app/account', { newEmail: 'ida@example.com', emailPassword: PASSWORD }),
  },
  {
    route: '/app/account/email/confirm',
    open: async (stage) => {
      const body = { email: 'ida@example.com', password: PASSWORD }
      await post(stage, '/v1/account/me/email', body)
      const { pathname, search } = await nextLink(stage.mail)
      return { page: `${pathname}${search}`, token: stage.token }
    },
  },
  {
    route: '/app/account/second-factor',
    open: asUser('/app/account/second-factor', { password: PASSWORD }),
  },
  {
    route: '/app/account/second-factor/confirm',
    open: async (stage) => {
      const fields: Record<string, string> = {}
      return {
        page: '/app/account/second-factor',
        token: stage.token,
        before: async (page) => {
          await page.fill('#password', PASSWORD)
          await page.click('main form button')
          const secret = (await page.textContent('#secret')) ?? ''
          fields['code'] = await codeAt(secret.trim(), stage.shop.now())
        },
        fields,
      }
    },
  },
  {
    route: '/app/account/second-factor/recovery-codes',
    open: async (stage) => {
      const { code: codesCode } = await turnOnFactor(stage)
      const fields = { codesPassword: PASSWORD, codesCode }
      return { page: '/app/account/second-factor', token: stage.token, fields }
    },
  },
  {
    route: '/app/account/second-factor/remove',
    open: async (stage) => {
      const { code: offCode } = await turnOnFactor(stage)
      const fields = { offPassword: PASSWORD, offCode }
      return { page: '/app/account/second-factor', token: stage.token, fields }
    },
  },
  {
    route: '/app/account/delete',
    open: asUser('/app/account', { deleteEmail: EMAIL, deletePassword: PASSWORD }),
  },
  {
    route: '/app/batch',
    open: async ({ token }) => ({
      page: '/app/batch',
      token,
      fields: { addresses: '81.2.69.160' },
      isScripted: true,
    }),
  },
  { route: '/app/sites', open: asUser('/app/sites', { name: SITE }) },
  { route: '/app/sites/:id/remove', open: withSite('/app/sites/:id/remove') },
  { route: '/app/sites/:id/proof', open: withSite('/app/sites') },
  { route: '/app/operate/people', open: inviting },
  { route: '/app/operate/people', name: 'without mail', sendsMail: false, open: inviting },
  { route: '/app/operate/people/:id/link', open: asOperator('/app/operate/people/:id/link') },
  {
    route: '/app/operate/people/:id/link',
    name: 'without mail',
    sendsMail: false,
    open: asOperator('/app/operate/people/:id/link'),
  },
  {
    route: '/app/operate/people/:id/second-factor',
    open: asOperator('/app/operate/people/:id/second-factor', async (stage) => {
      await turnOnFactor(stage)
    }),
  },
  {
    route: '/app/operate/people/:id/plan',
    open: asOperator('/app/operate/people/:id/plan?to=pro'),
  },
  { route: '/app/operate/people/:id/disable', open: asOperator('/app/operate/people/:id/disable') },
  {
    route: '/app/operate/people/:id/enable',
    open: asOperator('/app/operate/people/:id/enable', ({ shop: { app } }) =>
      write(app, 'UPDATE users SET disabled_at = 1 WHERE email = ?', EMAIL),
    ),
  },
  {
    route: '/app/operate/people/:id/sign-out',
    open: asOperator('/app/operate/people/:id/sign-out'),
  },
  {
    route: '/app/operate/people/:id/role',
    open: asOperator('/app/operate/people/:id/role?to=operator'),
  },
  {
    route: '/app/operate/people/:id/delete',
    open: asOperator('/app/operate/people/:id/delete', undefined, { email: EMAIL }),
  },
  { route: '/app/operate/databases/download', open: asOperator('/app/operate/databases') },
  { route: '/app/operate/databases/maxmind', open: enteringAccount },
  {
    route: '/app/operate/databases/maxmind/remove',
    open: asOperator('/app/operate/databases', async ({ shop: { app } }) => {
      const { db, maxmind } = app.services
      await runInTransaction(db, [maxmind.keep(await maxmind.encrypt(ACCOUNT))])
    }),
  },
  { route: '/app/operate/system/doctor', open: asOperator('/app/operate/system') },
  { route: '/app/operate/system/backup', open: asOperator('/app/operate/system') },
  { route: '/app/operate/system/test-mail', open: asOperator('/app/operate/system') },
  { route: '/app/operate/billing/compare', open: asOperator('/app/operate/billing') },
  {
    route: '/app/operate/billing/repair',
    open: asOperator('/app/operate/billing', differsFromStripe),
  },
  {
    route: '/app/operate/inquiries/retry-failed',
    open: asOperator('/app/operate/inquiries?state=dead', failedInquiry),
  },
  {
    route: '/app/operate/inquiries/:id/retry',
    open: asOperator('/app/operate/inquiries', failedInquiry),
  },
  {
    route: '/app/operate/inquiries/:id/remove',
    open: asOperator('/app/operate/inquiries', failedInquiry),
  },
  {
    route: '/app/operate/notices/retry-failed',
    open: asOperator('/app/operate/notices?state=dead', failedNotice),
  },
  {
    route: '/app/operate/notices/:id/retry',
    open: asOperator('/app/operate/notices', failedNotice),
  },
  {
    route: '/app/operate/notices/:id/remove',
    open: asOperator('/app/operate/notices', failedNotice),
  },
]
