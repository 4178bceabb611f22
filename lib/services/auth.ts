import type { HandleAuth } from '../access/embedded-auth.ts'
import { createFindRemoteSession } from '../access/remote-auth.ts'
import { type AskRemoteAuth, createAskRemoteAuth } from '../access/remote-sign-in.ts'
import {
  createFindSession,
  type FindSession,
  findSessionUser,
  removeEnded,
  removeHalfUsers,
} from '../access/session.ts'
import { adoptUser } from '../accounts/remote-users.ts'
import { transact } from '../db/unit.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

export interface Auth {
  readonly findSession: FindSession
  /** Sign-up and sign-in; null: another service does that. */
  readonly handleAuth: HandleAuth | null
  /** Asks the service that does; null: it is done here. */
  readonly askRemoteAuth: AskRemoteAuth | null
}

const CLEANUP_MS = 60 * 60 * 1000

const NO_MAIL =
  'MERIDIAN_SMTP_URL is not set: sign-up works, but no e-mail address is verified and no password reset by mail'

/** Sessions, embedded or of the auth service that the configuration names. */
export function openAuth(base: Base, opening: DisposableStack): Auth {
  cleanUpSessions(base, opening)
  const { authUrl } = base.config
  return authUrl === undefined ? embedAuth(base) : openRemoteAuth(base, authUrl)
}

/** At the start and then once an hour. */
function cleanUpSessions({ db, log, now }: Base, opening: DisposableStack): void {
  const cleanUp = () =>
    transact(db, () => {
      removeEnded(db, now())
      removeHalfUsers(db, now())
    })
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove ended sessions')
  cleanUp().catch(onError)
  opening.use(repeat(CLEANUP_MS, cleanUp, onError))
}

/** Sign-in is loaded when it is first used, since that takes longer than the whole start. */
function embedAuth({ config, secrets, db, plans, log, baseUrl }: Base): Auth {
  const { smtpUrl, mailFrom, allowSignUp } = config
  if (smtpUrl === undefined) log.warn({}, NO_MAIL)
  const load = async () => {
    const { createEmbeddedAuth } = await import('../access/embedded-auth.ts')
    const { createSendMail } = await import('../mail.ts')
    return createEmbeddedAuth({
      db,
      secret: secrets.auth,
      baseUrl: baseUrl(),
      plan: plans.free.id,
      allowSignUp,
      sendMail: smtpUrl === undefined ? null : createSendMail({ url: smtpUrl, from: mailFrom }),
      log,
    })
  }
  let loading: ReturnType<typeof load> | undefined
  return {
    findSession: createFindSession(db, secrets.auth),
    handleAuth: async (call) => {
      loading ??= load()
      return (await loading)(call)
    },
    askRemoteAuth: null,
  }
}

function openRemoteAuth({ db, plans, log }: Base, url: string): Auth {
  const findSession = createFindRemoteSession({
    url,
    adopt: (user, now) => adoptUser(db, user, { plan: plans.free.id, now }),
    findUser: (id) => findSessionUser(db, id),
    onTrouble: (reason) => log.error({ reason }, 'cannot ask the auth service'),
  })
  return { findSession, handleAuth: null, askRemoteAuth: createAskRemoteAuth(url) }
}
