import { join } from 'node:path'
import * as v from 'valibot'
import { findSimilar } from './did-you-mean.ts'
import { Environment } from './environment.ts'
import { List } from './values.ts'

/** The settings as the services use them. */
export type Config = ReturnType<typeof toConfig>

export type StripeConfig = Config['stripe']

export type PostgresConfig = NonNullable<Config['postgres']>

export type TurnstileConfig = NonNullable<Config['turnstile']>

/** Reads the settings from `env`, or throws one error that names every bad variable. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.entries(env).filter(([, text]) => text !== undefined && text !== '')
  const result = v.safeParse(Environment, Object.fromEntries(given), { abortPipeEarly: true })
  const problems = unknownNames(given.map(([name]) => name)).map(unknownProblem)
  for (const issue of result.issues ?? []) {
    problems.push(problemOf(v.getDotPath(issue) ?? '', issue))
  }
  const { STRIPE_SECRET_KEY: stripeKey = '', STRIPE_API_BASE: stripeBase } = env
  if (stripeBase && /^.k_live_/.test(stripeKey)) {
    problems.push('STRIPE_API_BASE cannot be combined with a live Stripe key')
  }
  if (result.success) problems.push(...missingProblems(result.output))
  if (!result.success || problems.length > 0) {
    throw new Error(`Cannot read the configuration: ${problems.join('; ')}`)
  }
  return toConfig(result.output, given)
}

/** Settings of clients (`npm run locate`, docs/clients.md), which may run in the same environment. */
const CLIENT_SETTINGS = ['MERIDIAN_URL', 'MERIDIAN_KEY']

/** Other programs use names with these prefixes too, so only likely misspellings of our names are refused. */
const SHARED_PREFIXES = ['STRIPE_', 'TURNSTILE_']
const MISSPELT_EDITS = 2

function unknownNames(names: readonly string[]): string[] {
  const known = Object.keys(Environment.entries)
  const taken = new Set<string>([...known, ...CLIENT_SETTINGS])
  return names.filter(
    (name) => !taken.has(name) && (name.startsWith('MERIDIAN_') || isMisspelt(name, known)),
  )
}

function isMisspelt(name: string, known: readonly string[]): boolean {
  const prefix = SHARED_PREFIXES.find((start) => name.startsWith(start))
  if (prefix === undefined || name.startsWith(PRICE)) return false
  const others = known.filter((other) => other.startsWith(prefix))
  const endings = others.map((other) => other.slice(prefix.length))
  return findSimilar(name.slice(prefix.length), endings, MISSPELT_EDITS) !== undefined
}

function unknownProblem(name: string): string {
  const similar = findSimilar(name, Object.keys(Environment.entries))
  return `unknown setting ${name}${similar === undefined ? '' : `, did you mean ${similar}?`}`
}

/** The addresses of a mail server and of databases may hold a password. */
const SECRET = /SECRET|^MERIDIAN_(SMTP|DATABASE)_URL$/

/** An invalid secret is still a secret: the message does not show it. */
function problemOf(name: string, { message, input }: v.BaseIssue<unknown>): string {
  return SECRET.test(name) ? `${name} ${message}` : `${name} ${message}, got ${quote(input)}`
}

type Settings = v.InferOutput<typeof Environment>

/** One problem for each setting that is missing although another one needs it. */
function missingProblems(env: Settings): string[] {
  return [...loneOfPair(env), ...contactProblems(env), ...databaseProblems(env)]
}

function loneOfPair(env: Settings): string[] {
  const [account, license] = [
    'MERIDIAN_MAXMIND_ACCOUNT_ID',
    'MERIDIAN_MAXMIND_LICENSE_KEY',
  ] as const
  if (env[account] === undefined && env[license] !== undefined)
    return [`${license} needs ${account}`]
  if (env[license] === undefined && env[account] !== undefined)
    return [`${account} needs ${license}`]
  return []
}

function contactProblems(env: Settings): string[] {
  const kind = env.MERIDIAN_CONTACT?.kind
  if (kind === 'mail' && env.MERIDIAN_SMTP_URL === undefined) {
    return ['MERIDIAN_CONTACT sends mail: set MERIDIAN_SMTP_URL']
  }
  if (kind === 'webhook' && env.MERIDIAN_CONTACT_SECRET === undefined) {
    return ['MERIDIAN_CONTACT is a webhook: set MERIDIAN_CONTACT_SECRET to sign requests to it']
  }
  return []
}

function databaseProblems(env: Settings): string[] {
  if (env.MERIDIAN_DATABASE_URL === undefined) return sharedProblems(env)
  const problems: string[] = []
  if (env.MERIDIAN_SECRET === undefined) {
    problems.push(
      'MERIDIAN_DATABASE_URL needs MERIDIAN_SECRET, which encrypts the secrets there: make one with openssl rand -hex 32',
    )
  }
  if (env.MERIDIAN_REPLICATED) {
    problems.push('MERIDIAN_REPLICATED is for SQLite: unset it or MERIDIAN_DATABASE_URL')
  }
  return [...problems, ...adminPortProblems(env)]
}

const LAST_PORT = 65_535

/** Each process takes the next port for operators. */
function adminPortProblems(env: Settings): string[] {
  const { PORT: port, MERIDIAN_ADMIN_PORT: first, MERIDIAN_NODES: nodes } = env
  if (first === undefined || first === 0 || nodes === 1) return []
  const last = first + nodes - 1
  if (last <= LAST_PORT && (port < first || port > last)) return []
  const taken = last > LAST_PORT ? `the last port is ${LAST_PORT}` : `PORT is ${port}`
  return [`MERIDIAN_ADMIN_PORT: ${nodes} processes use ${first} to ${last}, but ${taken}`]
}

/** What only servers on one PostgreSQL need. */
function sharedProblems(env: Settings): string[] {
  const problems: string[] = []
  if (env.MERIDIAN_SECRET !== undefined) {
    problems.push(
      'MERIDIAN_SECRET encrypts secrets in PostgreSQL: set MERIDIAN_DATABASE_URL, or unset MERIDIAN_SECRET',
    )
  }
  if (env.MERIDIAN_NODES > 1) {
    problems.push(
      'MERIDIAN_NODES above 1 needs PostgreSQL: set MERIDIAN_DATABASE_URL, or unset MERIDIAN_NODES',
    )
  }
  return problems
}

/**
 * Quotes a bad value. Hides what comes before an `@`, which may be a password. Cuts long values,
 * which may be secrets in the wrong variable.
 */
function quote(input: unknown): string {
  const given = Array.isArray(input) ? input.join(',') : String(input)
  const text = given.replace(/^([a-z]+:\/\/)?.*@/is, '$1…@')
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

type Variables = readonly (readonly [name: string, text: string | undefined])[]

function toStripe(env: Settings, given: Variables) {
  return {
    /** undefined: billing is off. */
    secretKey: env.STRIPE_SECRET_KEY,
    /** An event signed with any of them is valid. */
    webhookSecrets: env.STRIPE_WEBHOOK_SECRET,
    /** undefined: Stripe's own API. */
    apiBase: env.STRIPE_API_BASE,
    prices: readPrices(given),
    overagePrice: env.STRIPE_PRICE_OVERAGE,
    tax: env.STRIPE_TAX,
  }
}

function toConfig(env: Settings, given: Variables) {
  return {
    port: env.PORT,
    host: env.HOST,
    admin: toAdmin(env),
    /** Largest number of open connections. */
    maxConnections: env.MERIDIAN_MAX_CONNECTIONS,
    /** Processes that listen on the port, each of them a node of the database. */
    processes: env.MERIDIAN_NODES,
    /** Seconds from the signal to the stop. */
    drainSeconds: env.MERIDIAN_DRAIN_SECONDS,
    dataDir: env.MERIDIAN_DATA_DIR,
    backupDir: env.MERIDIAN_BACKUP_DIR ?? join(env.MERIDIAN_DATA_DIR, 'backups'),
    /** Whether Litestream copies the database and checkpoints its write-ahead log. */
    replicated: env.MERIDIAN_REPLICATED,
    /** undefined: SQLite, in the data folder. */
    postgres: toPostgres(env),
    baseUrl: env.MERIDIAN_BASE_URL,
    logLevel: env.MERIDIAN_LOG_LEVEL,
    plansFile: env.MERIDIAN_PLANS,
    stripe: toStripe(env, given),
    trustedProxies: env.MERIDIAN_TRUSTED_PROXIES,
    /** Header in which trusted proxies name the client, in lower case. */
    clientHeader: env.MERIDIAN_CLIENT_HEADER,
    /** Origins of pages that may call account, billing and contact operations. */
    corsOrigins: env.MERIDIAN_CORS_ORIGINS,
    /** The DNS servers to ask for sites' records; undefined: the system's. */
    dnsServers: env.MERIDIAN_DNS_SERVERS,
    /** The DNS servers to ask for hostnames (`servers` undefined: the system's); undefined: do not ask. */
    hostnames: env.MERIDIAN_DNS,
    /** undefined: sign-in is embedded. */
    authUrl: env.MERIDIAN_AUTH_URL,
    allowSignUp: env.MERIDIAN_SIGN_UP === 'open',
    /** Whether visitors of the landing page may look up addresses. */
    demo: env.MERIDIAN_DEMO,
    /** undefined: the server sends no mail. */
    smtpUrl: env.MERIDIAN_SMTP_URL,
    mailFrom: env.MERIDIAN_MAIL_FROM,
    /** undefined: inquiries are refused. */
    contact: env.MERIDIAN_CONTACT ?? undefined,
    /** Signs inquiries sent to a webhook; empty if it is not set. */
    contactSecret: env.MERIDIAN_CONTACT_SECRET ?? '',
    turnstile: toTurnstile(env),
    geo: toGeo(env),
    download: toDownload(env),
  }
}

function toPostgres(env: Settings) {
  const { MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: secret } = env
  // Both or neither are set: see databaseProblems.
  if (url === undefined || secret === undefined) return undefined
  return { url, secret, staleKeysSeconds: env.MERIDIAN_STALE_KEYS }
}

function toGeo(env: Settings) {
  return {
    /** undefined: the bundled set. */
    files: env.MERIDIAN_GEO,
    map: env.MERIDIAN_GEO_MMAP,
    /** Whether to combine the databases into one index, a file of about 120 MB. */
    atlas: env.MERIDIAN_GEO_ATLAS,
    /** Empty: none are used. */
    geofeeds: env.MERIDIAN_GEOFEEDS,
  }
}

function toDownload(env: Settings) {
  return {
    /** Whether a server looks for newer databases every day. */
    isRegular: env.MERIDIAN_GEO_DOWNLOAD,
    maxmindUrl: env.MERIDIAN_MAXMIND_URL,
    maxmindAccountId: env.MERIDIAN_MAXMIND_ACCOUNT_ID,
    maxmindLicenseKey: env.MERIDIAN_MAXMIND_LICENSE_KEY,
    dbipUrl: env.MERIDIAN_DBIP_URL,
    /** Where to download the free lists; null: nowhere. */
    lists: env.MERIDIAN_LISTS,
  }
}

/** Returns where the admin port listens; undefined: it is off. */
function toAdmin({ MERIDIAN_ADMIN_PORT: port, MERIDIAN_ADMIN_HOST: host }: Settings) {
  return port === undefined ? undefined : { port, host }
}

const PRICE = 'STRIPE_PRICE_'

/** Plan id in capitals, with `_` for `-`, such as PRO → its current price, then older prices. */
function readPrices(given: Variables): Record<string, readonly string[]> {
  const prices = given.filter(([name]) => name.startsWith(PRICE) && name !== `${PRICE}OVERAGE`)
  return Object.fromEntries(
    prices.map(([name, text]) => [name.slice(PRICE.length), v.parse(List, text)]),
  )
}

/** undefined: the built-in proof of work checks for bots. */
function toTurnstile(env: Settings) {
  const secretKey = env.TURNSTILE_SECRET_KEY
  if (secretKey === undefined) return undefined
  /** Hosts whose tokens are accepted; if empty, all hosts that Cloudflare allows for the widget. */
  const hostnames = (env.TURNSTILE_HOSTNAMES ?? []).map((name) => name.toLowerCase())
  return { secretKey, hostnames, verifyUrl: env.TURNSTILE_VERIFY_URL }
}
