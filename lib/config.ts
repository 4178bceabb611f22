import * as v from 'valibot'
import { type Network, parseNetwork } from './network.ts'

const describe = v.description

const Port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535'),
  v.toNumber(),
  v.maxValue(65_535, 'must be a port number from 0 to 65535'),
)

const HttpUrl = v.pipe(
  v.string(),
  v.regex(/^https?:\/\/[^/?#]+/, 'must be an http or https URL'),
  v.url('must be an http or https URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
)

const Flag = v.pipe(
  v.picklist(['0', '1'], 'must be 0 or 1'),
  v.transform((text) => text === '1'),
)

const List = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
  v.filterItems((part) => part !== ''),
)

const Networks = v.pipe(
  List,
  v.everyItem(
    (part) => parseNetwork(part) !== null,
    'must be a comma-separated list of networks such as 10.0.0.0/8',
  ),
  v.transform((parts) => parts.map(parseNetwork).filter((network) => network !== null)),
)

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Every environment variable that is read, with its meaning and default. */
export const Environment = v.object({
  PORT: v.optional(v.pipe(Port, describe('Port to listen on; 0 takes any free one')), '8787'),
  HOST: v.optional(v.pipe(v.string(), describe('Address to listen on')), '127.0.0.1'),
  MERIDIAN_DATA_DIR: v.optional(
    v.pipe(v.string(), describe('Folder of app.db, secrets.json and geo/')),
    'data',
  ),
  MERIDIAN_BASE_URL: v.optional(
    v.pipe(HttpUrl, describe('Public address of the service, used in links')),
  ),
  MERIDIAN_GEO: v.optional(
    v.pipe(
      List,
      describe('Database files to use instead of the bundled set, in order of priority'),
    ),
  ),
  MERIDIAN_GEO_MMAP: v.optional(
    v.pipe(Flag, describe('0 reads database files into memory instead of mapping them')),
    '1',
  ),
  MERIDIAN_PLANS: v.optional(v.pipe(v.string(), describe('JSON file with your own plans'))),
  MERIDIAN_TRUSTED_PROXIES: v.optional(
    v.pipe(Networks, describe('Networks of proxies whose X-Forwarded-For is believed')),
    '',
  ),
  MERIDIAN_AUTH_URL: v.optional(
    v.pipe(
      HttpUrl,
      describe('Address of a better-auth service to ask for sessions, instead of signing in here'),
    ),
  ),
  MERIDIAN_SIGN_UP: v.optional(
    v.pipe(
      v.picklist(['open', 'closed'], 'must be open or closed'),
      describe('Whether new users may sign up by themselves'),
    ),
    'open',
  ),
  MERIDIAN_SMTP_URL: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^smtps?:\/\/[^/?#]+/, 'must be an smtp or smtps URL'),
      describe('Mail server, such as smtps://user:password@mail.example:465'),
    ),
  ),
  MERIDIAN_MAIL_FROM: v.optional(
    v.pipe(v.string(), describe('Sender of the mail')),
    'Meridian <meridian@localhost>',
  ),
  MERIDIAN_LOG_LEVEL: v.optional(
    v.pipe(
      v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`),
      describe('Least severe level that is logged; requests are logged at info'),
    ),
    'info',
  ),
  MERIDIAN_MAXMIND_ACCOUNT_ID: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d+$/, 'must be a number'),
      describe('MaxMind account, for npm run geo -- --download'),
    ),
  ),
  MERIDIAN_MAXMIND_LICENSE_KEY: v.optional(
    v.pipe(v.string(), describe('Licence key of that account')),
  ),
  MERIDIAN_MAXMIND_URL: v.optional(
    v.pipe(HttpUrl, describe('Where MaxMind files are downloaded from')),
    'https://download.maxmind.com',
  ),
  MERIDIAN_DBIP_URL: v.optional(
    v.pipe(HttpUrl, describe('Where DB-IP files are downloaded from')),
    'https://download.db-ip.com',
  ),
  STRIPE_PRICE_STARTER: v.optional(
    v.pipe(v.string(), describe('Stripe price of the plan starter, shown in the list of plans')),
  ),
  STRIPE_PRICE_PRO: v.optional(
    v.pipe(v.string(), describe('Stripe price of the plan pro, shown in the list of plans')),
  ),
})

/** Names that are taken, but do nothing yet: what they set up answers 501. */
export const RESERVED = ['MERIDIAN_ADMIN_PORT', 'MERIDIAN_CONTACT'] as const

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  readonly baseUrl: string | undefined
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly plansFile: string | undefined
  readonly stripePrices: Readonly<Record<string, string | undefined>>
  readonly trustedProxies: readonly Network[]
  /** undefined: sign-in is embedded. */
  readonly authUrl: string | undefined
  readonly allowSignUp: boolean
  /** undefined: no mail is sent. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  readonly geo: {
    /** undefined: the bundled set. */
    readonly files: readonly string[] | undefined
    readonly map: boolean
  }
  readonly download: {
    readonly maxmindUrl: string
    readonly maxmindAccountId: string | undefined
    readonly maxmindLicenseKey: string | undefined
    readonly dbipUrl: string
  }
}

/** Reads the settings from `env`, or throws one error that names every bad variable. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const known = Object.entries(env).filter(([, text]) => text !== undefined && text !== '')
  const result = v.safeParse(Environment, Object.fromEntries(known))
  const problems = unknownNames(known.map(([name]) => name)).map((name) => `${name} is no setting`)
  for (const issue of result.issues ?? []) {
    problems.push(`${v.getDotPath(issue) ?? ''} ${issue.message}, got ${quote(issue.input)}`)
  }
  if (!result.success || problems.length > 0) {
    throw new Error(`Cannot read the configuration: ${problems.join('; ')}`)
  }
  return toConfig(result.output)
}

function unknownNames(names: readonly string[]): string[] {
  const taken = new Set<string>([...Object.keys(Environment.entries), ...RESERVED])
  return names.filter((name) => name.startsWith('MERIDIAN_') && !taken.has(name))
}

/** What was given, cut short: a value may be a secret put into the wrong variable. */
function quote(input: unknown): string {
  const text = Array.isArray(input) ? input.join(',') : String(input)
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

function toConfig(env: v.InferOutput<typeof Environment>): Config {
  return {
    port: env.PORT,
    host: env.HOST,
    dataDir: env.MERIDIAN_DATA_DIR,
    baseUrl: env.MERIDIAN_BASE_URL,
    logLevel: env.MERIDIAN_LOG_LEVEL,
    plansFile: env.MERIDIAN_PLANS,
    stripePrices: { starter: env.STRIPE_PRICE_STARTER, pro: env.STRIPE_PRICE_PRO },
    trustedProxies: env.MERIDIAN_TRUSTED_PROXIES,
    authUrl: env.MERIDIAN_AUTH_URL,
    allowSignUp: env.MERIDIAN_SIGN_UP === 'open',
    smtpUrl: env.MERIDIAN_SMTP_URL,
    mailFrom: env.MERIDIAN_MAIL_FROM,
    geo: { files: env.MERIDIAN_GEO, map: env.MERIDIAN_GEO_MMAP },
    download: {
      maxmindUrl: env.MERIDIAN_MAXMIND_URL,
      maxmindAccountId: env.MERIDIAN_MAXMIND_ACCOUNT_ID,
      maxmindLicenseKey: env.MERIDIAN_MAXMIND_LICENSE_KEY,
      dbipUrl: env.MERIDIAN_DBIP_URL,
    },
  }
}
