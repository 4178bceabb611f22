import * as v from 'valibot'
import { EmailAddress } from '../../parts/email-address.ts'
import { singleLine, textUpTo } from '../common.ts'

/** An endpoint of better-auth, below /api/auth. */
export interface AuthRequest {
  readonly method: 'GET' | 'POST'
  readonly path: `/${string}`
  /** Present if we read or check fields of the body ourselves. */
  readonly body?: v.GenericSchema<unknown, AuthBody>
  /** Whether it hashes passwords. Only a few such requests run at the same time. */
  readonly hashes?: true
  /** Requests with a live session count per user, all others per address. */
  readonly needsSession?: true
  /** Limits besides the one on all requests from an address. */
  readonly limits?: readonly (AccountLimit | AddressLimit)[]
}

/** A limit per account: that of the `email` or `challenge` in the body, otherwise that of the session. */
export interface AccountLimit extends Counted {
  readonly of:
    | 'newSessions'
    | 'passwords'
    | 'resetMails'
    | 'secondFactors'
    | 'signIns'
    | 'verificationMails'
}

/** A limit per address of the client. */
export interface AddressLimit extends Counted {
  readonly of: 'addressMails' | 'addressSignIns'
}

interface Counted {
  /** Only answers with this status count; default: all. */
  readonly counts?: 200 | 401
}

/**
 * Malformed Unicode would reveal who has an account: for a new address better-auth returns
 * altered text, for a known one it fails while it makes the link.
 */
const isWellFormed = (body: object) =>
  Object.values(body).every((text) => typeof text !== 'string' || text.isWellFormed())
const MALFORMED = 'must be well-formed Unicode'

const NAME = singleLine(100)
/** API clients may show it, so it cannot be `javascript:` or markup. */
const IMAGE = v.pipe(
  textUpTo(1_000),
  v.check(
    (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
    'must be an http or https URL',
  ),
)

/** The fields that we read or limit ourselves; better-auth checks the rest. */
const AuthBody = v.pipe(
  v.looseObject({
    name: v.optional(NAME),
    email: v.optional(EmailAddress),
    password: v.optional(v.string()),
    /** Of a sign-in: the token in the link that verifies the address. */
    verificationToken: v.optional(v.string()),
    image: v.optional(v.nullable(IMAGE)),
    revokeKeys: v.optional(v.boolean()),
    /** Of the second step of a sign-in. */
    challenge: v.optional(v.string()),
  }),
  v.check((body) => isWellFormed(body), MALFORMED),
)
export type AuthBody = Partial<v.InferOutput<typeof AuthBody>>

/** The limits of better-auth. */
const PASSWORD = v.pipe(v.string(), v.minLength(8), v.maxLength(128))

/** What forms check themselves, since better-auth does not say at which field an error is. */
export const AUTH_FORMS = {
  signUp: v.object({ name: NAME, email: EmailAddress, password: PASSWORD }),
  name: v.object({ name: NAME }),
  email: v.object({ email: EmailAddress }),
  newPassword: v.object({ newPassword: PASSWORD }),
  changePassword: v.object({
    currentPassword: v.pipe(v.string(), v.nonEmpty('is missing')),
    newPassword: PASSWORD,
  }),
} as const

const UpdateUserBody = v.pipe(
  v.strictObject({ name: v.optional(NAME), image: v.optional(v.nullable(IMAGE)) }),
  v.check((body) => isWellFormed(body), MALFORMED),
)

/** Drops all fields, so that the limit counts for the account of the session, whatever the body names. */
const PasswordsBody = v.pipe(
  v.looseObject({}),
  v.check((body) => isWellFormed(body), MALFORMED),
  v.transform(() => ({})),
)

/** Keeps only the challenge, which identifies the account. */
const SecondStepBody = v.pipe(
  v.looseObject({ challenge: textUpTo(100), code: textUpTo(100) }),
  v.check((body) => isWellFormed(body), MALFORMED),
  v.transform(({ challenge }) => ({ challenge })),
)

const SIGN_IN = [
  { of: 'signIns', counts: 401 },
  { of: 'addressSignIns', counts: 401 },
  { of: 'newSessions', counts: 200 },
] as const
const ADDRESS_MAIL = { of: 'addressMails', counts: 200 } as const
const RESET_MAIL = [{ of: 'resetMails', counts: 200 }, ADDRESS_MAIL] as const
const VERIFICATION_MAIL = [{ of: 'verificationMails', counts: 200 }, ADDRESS_MAIL] as const

/**
 * The endpoints of better-auth that we serve, with the bodies and errors of better-auth. All others are
 * closed: some end a single session by its token, but we store only hashes; some are links in mails, but
 * our mails lead to forms of the dashboard.
 */
export const AUTH_REQUESTS: readonly AuthRequest[] = [
  {
    method: 'POST',
    path: '/sign-up/email',
    body: AuthBody,
    hashes: true,
    limits: VERIFICATION_MAIL,
  },
  { method: 'POST', path: '/sign-in/email', body: AuthBody, hashes: true, limits: SIGN_IN },
  {
    method: 'POST',
    path: '/two-factor/verify',
    body: SecondStepBody,
    limits: [
      { of: 'secondFactors', counts: 401 },
      { of: 'addressSignIns', counts: 401 },
    ],
  },
  { method: 'POST', path: '/sign-out', needsSession: true },
  { method: 'GET', path: '/get-session', needsSession: true },
  { method: 'POST', path: '/request-password-reset', body: AuthBody, limits: RESET_MAIL },
  { method: 'POST', path: '/reset-password', body: AuthBody, hashes: true },
  { method: 'POST', path: '/send-verification-email', body: AuthBody, limits: VERIFICATION_MAIL },
  {
    method: 'POST',
    path: '/change-password',
    body: PasswordsBody,
    needsSession: true,
    hashes: true,
    limits: [{ of: 'passwords' }],
  },
  { method: 'POST', path: '/update-user', body: UpdateUserBody, needsSession: true },
  { method: 'POST', path: '/revoke-sessions', needsSession: true },
]
