import { createFindSession, type FindSession, findSessionUser } from '../access/find-session.ts'
import type { KeyRing } from '../access/key-ring/key-ring.ts'
import { planOfNew, toNewPlans } from '../access/new-plans.ts'
import { rememberSession } from '../access/sessions.ts'
import type { AuthMailer } from '../access/sign-in/auth-mail.ts'
import { removeExpired, removeIncompleteUsers } from '../access/sign-in/clean-up.ts'
import type { EmbeddedAuthOptions, HandleAuth } from '../access/sign-in/embedded-auth.ts'
import { createKnownDevices, type KnownDevices } from '../access/sign-in/known-devices.ts'
import { createFindRemoteSession } from '../access/sign-in/remote-auth.ts'
import { type AskRemoteAuth, createAskRemoteAuth } from '../access/sign-in/remote-sign-in.ts'
import type { SecondStep } from '../access/sign-in/second-step.ts'
import { findPassword } from '../access/stored-password.ts'
import { adoptUser } from '../accounts/remote-users.ts'
import { challengeUser, passChallenge } from '../accounts/second-factor/challenge.ts'
import type { FactorStore } from '../accounts/second-factor/spend-code.ts'
import { deriveSecret } from '../config/secrets.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { once } from '../parts/once.ts'
import { repeat } from '../parts/repeat.ts'
import { type AccountMails, openAccountMails } from './account-mails.ts'
import { type AuthSettings, startAuth } from './auth-host.ts'
import type { Foundation } from './foundation.ts'
import { createPasswordResets } from './password-reset.ts'
import type { Load } from './preload.ts'

export interface Auth {
  readonly findSession: FindSession
  /** Sign-up and sign-in; null if a remote service does that. */
  readonly handleAuth: HandleAuth | null
  /** Calls that remote service; null if sign-in is embedded. */
  readonly askRemoteAuth: AskRemoteAuth | null
  /** Loads sign-in before its first use. */
  readonly loadAuth: Load
  readonly devices: KnownDevices
  readonly secondFactors: FactorStore
  readonly mails: AccountMails
}

type EmbeddedOrRemote = Omit<Auth, 'devices' | 'secondFactors' | 'mails'>

const NO_MAIL =
  'MERIDIAN_SMTP_URL is not set: users cannot verify an e-mail address or reset a password'

/** Opens sign-in: embedded, or through the auth service that the configuration names. */
export function openAuth(
  foundation: Foundation,
  keys: KeyRing,
  opening: AsyncDisposableStack,
): Auth {
  const { config, secrets, storage, db, log, now } = foundation
  const removeOld = async () => {
    await removeExpired(db, now())
    await removeIncompleteUsers(db, now())
  }
  const cleanUp = () => storage.leases.runAlone('session retention', removeOld, { restMs: HOUR_MS })
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove ended sessions')
  cleanUp().catch(onError)
  opening.use(repeat(HOUR_MS, cleanUp, onError))
  const secret = deriveSecret(secrets, 'known devices')
  const devices = createKnownDevices(
    secret,
    async (email) => (await findPassword(db, email))?.hash ?? '',
  )
  const mails = openAccountMails(foundation, opening)
  const { notify } = mails
  const secondFactors = { db, key: deriveSecret(secrets, 'second factors'), notify }
  const { authUrl } = config
  const auth =
    authUrl === undefined
      ? embedAuth(foundation, opening, {
          passwordResets: createPasswordResets(foundation, keys, notify),
          secondStep: createSecondStep(secondFactors, now),
          mailer: {
            postLink: (user, kind, query) => mails.postLink({ user, kind, query }),
            postNotice: mails.postNotice,
          },
        })
      : openRemoteAuth(foundation, authUrl)
  return { ...auth, devices, secondFactors, mails }
}

function createSecondStep(store: FactorStore, now: () => number): SecondStep {
  return {
    challenge: (userId) => challengeUser(store, userId, now()),
    pass: ({ challenge, ...entered }) =>
      passChallenge(store, challenge, { ...entered, now: now() }),
  }
}

interface Answers extends Pick<EmbeddedAuthOptions, 'passwordResets' | 'secondStep'> {
  readonly mailer: AuthMailer
}

/** Loads better-auth on first use: loading it takes longer than the rest of the start. */
function embedAuth(
  foundation: Foundation,
  opening: AsyncDisposableStack,
  answers: Answers,
): EmbeddedOrRemote {
  const { config, secrets, db, log, onCrash } = foundation
  const sendsMail = config.smtpUrl !== undefined
  if (!sendsMail) log.warn({}, NO_MAIL)
  let starting: ReturnType<typeof startAuth> | undefined
  let isClosed = false
  opening.defer(async () => {
    isClosed = true
    const thread = await starting?.catch(() => undefined)
    await thread?.[Symbol.asyncDispose]()
  })
  const load = once(async () => {
    const settings = authSettings(foundation)
    if (onCrash === undefined) return loadAuth(foundation, settings, answers)
    if (isClosed) throw new Error('the server has stopped')
    const { passwordResets, secondStep, mailer } = answers
    starting = startAuth(
      { db, log, onCrash },
      { ...passwordResets, ...secondStep, ...mailer },
      settings,
    )
    return (await starting).handle
  })
  return {
    findSession: createFindSession(db, { secret: secrets.auth, sendsMail }),
    handleAuth: async (call) => (await load())(call),
    askRemoteAuth: null,
    loadAuth: load,
  }
}

function authSettings({ config, secrets, plans, baseUrl }: Foundation): AuthSettings {
  const { smtpUrl, allowSignUp } = config
  const sendsMail = smtpUrl !== undefined
  const newPlans = toNewPlans(plans)
  return { secret: secrets.auth, baseUrl: baseUrl(), newPlans, allowSignUp, sendsMail }
}

/** Loads sign-in into this thread. */
async function loadAuth(
  { db, log }: Foundation,
  { sendsMail, ...settings }: AuthSettings,
  { mailer, ...answers }: Answers,
): Promise<HandleAuth> {
  const { createEmbeddedAuth } = await import('../access/sign-in/embedded-auth.ts')
  const ownMailer = sendsMail ? mailer : null
  return createEmbeddedAuth({ ...settings, db, mailer: ownMailer, ...answers, log })
}

function openRemoteAuth({ db, plans, log }: Foundation, url: string): EmbeddedOrRemote {
  const findPlan = () => planOfNew(db, toNewPlans(plans))
  const findSession = createFindRemoteSession({
    url,
    adopt: (user, now) => adoptUser(db, user, { findPlan, now }),
    onSession: (session, now) => rememberSession(db, session, now),
    findUser: async (id) => {
      const user = await findSessionUser(db, id)
      return user?.disabledAt === null ? user : null
    },
    onFailure: (reason) => log.error({ reason }, 'cannot ask the auth service'),
  })
  const askRemoteAuth = createAskRemoteAuth(url)
  return { findSession, handleAuth: null, askRemoteAuth, loadAuth: async () => {} }
}
