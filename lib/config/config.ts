import { join } from 'node:path'
import * as v from 'valibot'
import { type ContactTarget, parseContactTarget } from './contact-target.ts'
import { Environment, List, type LOG_LEVELS } from './environment.ts'
import type { Network } from './network.ts'

export interface Config {
  readonly port: number
  readonly host: string
  /** Where operators ask; undefined: nowhere. */
  readonly admin: AdminConfig | undefined
  /** Open at once. */
  readonly maxConnections: number
  readonly dataDir: string
  readonly backupDir: string
  /** Whether another process copies the database and moves its log into it. */
  readonly replicated: boolean
  readonly baseUrl: string | undefined
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly plansFile: string | undefined
  readonly stripe: StripeConfig
  readonly trustedProxies: readonly Network[]
  /** undefined: sign-in is embedded. */
  readonly authUrl: string | undefined
  readonly allowSignUp: boolean
  /** Whether visitors of the landing page may look up addresses. */
  readonly demo: boolean
  /** undefined: no mail is sent. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** undefined: no inquiries are taken. */
  readonly contact: ContactTarget | undefined
  /** Signs what is sent to a webhook; there is one where `contact` is such. */
  readonly contactSecret: string
  /** undefined: the bot check is our own. */
  readonly turnstile: TurnstileConfig | undefined
  readonly geo: {
    /** undefined: the bundled set. */
    readonly files: readonly string[] | undefined
    readonly map: boolean
    /** Whether databases are merged beforehand, into a file of some 120 MB. */
    readonly atlas: boolean
  }
  readonly download: {
    readonly maxmindUrl: string
    readonly maxmindAccountId: string | undefined
    readonly maxmindLicenseKey: string | undefined
    readonly dbipUrl: string
  }
}

export interface AdminConfig {
  readonly port: number
  readonly host: string
}

export interface StripeConfig {
  /** undefined: nothing is sold. */
  readonly secretKey: string | undefined
  /** Any of them signs the events. */
  readonly webhookSecrets: readonly string[]
  /** undefined: Stripe itself. */
  readonly apiBase: string | undefined
  /** By the name of the plan in capitals, such as PRO: the price that is sold, then older ones. */
  readonly prices: Readonly<Record<string, readonly string[]>>
  readonly overagePrice: string | undefined
}

export interface TurnstileConfig {
  readonly secretKey: string
  readonly hostnames: readonly string[]
  readonly verifyUrl: string
}

/** Reads the settings from `env`, or throws one error that names every bad variable. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = Object.entries(env).filter(([, text]) => text !== undefined && text !== '')
  const result = v.safeParse(Environment, Object.fromEntries(known))
  const problems = unknownNames(known.map(([name]) => name)).map((name) => `${name} is no setting`)
  for (const issue of result.issues ?? []) {
    problems.push(problemOf(v.getDotPath(issue) ?? '', issue))
  }
  const { STRIPE_SECRET_KEY: stripeKey = '', STRIPE_API_BASE: stripeBase } = env
  if (stripeBase && /^.k_live_/.test(stripeKey)) {
    problems.push('STRIPE_API_BASE is for test keys: a live key belongs to Stripe alone')
  }
  if (result.success) problems.push(...missingNames(result.output))
  if (!result.success || problems.length > 0) {
    throw new Error(`Cannot read the configuration: ${problems.join('; ')}`)
  }
  return toConfig(result.output, known)
}

function unknownNames(names: readonly string[]): string[] {
  const taken = new Set<string>(Object.keys(Environment.entries))
  return names.filter((name) => name.startsWith('MERIDIAN_') && !taken.has(name))
}

/** A password stands in the address of a mail server. */
const SECRET = /SECRET|^MERIDIAN_SMTP_URL$/

/** A secret is not shown, however bad it is. */
function problemOf(name: string, { message, input }: v.BaseIssue<unknown>): string {
  return SECRET.test(name) ? `${name} ${message}` : `${name} ${message}, got ${quote(input)}`
}

type Settings = v.InferOutput<typeof Environment>

/** What is needed by what is set. */
function missingNames(env: Settings): string[] {
  const { kind } = toTarget(env) ?? {}
  if (kind === 'mail' && env.MERIDIAN_SMTP_URL === undefined) {
    return ['MERIDIAN_SMTP_URL is missing, which sends the mail of MERIDIAN_CONTACT']
  }
  if (kind === 'webhook' && env.MERIDIAN_CONTACT_SECRET === undefined) {
    return ['MERIDIAN_CONTACT_SECRET is missing, which signs what MERIDIAN_CONTACT gets']
  }
  return []
}

function toTarget({ MERIDIAN_CONTACT }: Settings): ContactTarget | undefined {
  return parseContactTarget(MERIDIAN_CONTACT ?? '') ?? undefined
}

/**
 * What was given, without what may be a password before an `@`, and cut short: a value may be a
 * secret put into the wrong variable.
 */
function quote(input: unknown): string {
  const given = Array.isArray(input) ? input.join(',') : String(input)
  const text = given.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@')
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

type Variables = readonly (readonly [name: string, text: string | undefined])[]

function toConfig(env: Settings, known: Variables): Config {
  return {
    port: env.PORT,
    host: env.HOST,
    admin: toAdmin(env),
    maxConnections: env.MERIDIAN_MAX_CONNECTIONS,
    dataDir: env.MERIDIAN_DATA_DIR,
    backupDir: env.MERIDIAN_BACKUP_DIR ?? join(env.MERIDIAN_DATA_DIR, 'backups'),
    replicated: env.MERIDIAN_REPLICATED,
    baseUrl: env.MERIDIAN_BASE_URL,
    logLevel: env.MERIDIAN_LOG_LEVEL,
    plansFile: env.MERIDIAN_PLANS,
    stripe: {
      secretKey: env.STRIPE_SECRET_KEY,
      webhookSecrets: env.STRIPE_WEBHOOK_SECRET,
      apiBase: env.STRIPE_API_BASE,
      prices: readPrices(known),
      overagePrice: env.STRIPE_PRICE_OVERAGE,
    },
    trustedProxies: env.MERIDIAN_TRUSTED_PROXIES,
    authUrl: env.MERIDIAN_AUTH_URL,
    allowSignUp: env.MERIDIAN_SIGN_UP === 'open',
    demo: env.MERIDIAN_DEMO,
    smtpUrl: env.MERIDIAN_SMTP_URL,
    mailFrom: env.MERIDIAN_MAIL_FROM,
    contact: toTarget(env),
    contactSecret: env.MERIDIAN_CONTACT_SECRET ?? '',
    turnstile: toTurnstile(env),
    geo: {
      files: env.MERIDIAN_GEO,
      map: env.MERIDIAN_GEO_MMAP,
      atlas: env.MERIDIAN_GEO_ATLAS,
    },
    download: {
      maxmindUrl: env.MERIDIAN_MAXMIND_URL,
      maxmindAccountId: env.MERIDIAN_MAXMIND_ACCOUNT_ID,
      maxmindLicenseKey: env.MERIDIAN_MAXMIND_LICENSE_KEY,
      dbipUrl: env.MERIDIAN_DBIP_URL,
    },
  }
}

function toAdmin({ MERIDIAN_ADMIN_PORT: port, MERIDIAN_ADMIN_HOST: host }: Settings) {
  return port === undefined ? undefined : { port, host }
}

const PRICE = 'STRIPE_PRICE_'

/** The prices of all plans: which plans there are, another file tells. */
function readPrices(known: Variables): Record<string, readonly string[]> {
  const prices = known.filter(([name]) => name.startsWith(PRICE) && name !== `${PRICE}OVERAGE`)
  return Object.fromEntries(
    prices.map(([name, text]) => [name.slice(PRICE.length), v.parse(List, text)]),
  )
}

function toTurnstile(env: Settings): TurnstileConfig | undefined {
  const secretKey = env.TURNSTILE_SECRET_KEY
  if (secretKey === undefined) return undefined
  const hostnames = (env.TURNSTILE_HOSTNAMES ?? []).map((name) => name.toLowerCase())
  return { secretKey, hostnames, verifyUrl: env.TURNSTILE_VERIFY_URL }
}
