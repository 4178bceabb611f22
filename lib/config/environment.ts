import * as v from 'valibot'
import { isDnsServers } from '../parts/net/ask-dns.ts'
import { parseNetwork, unmappedNetwork } from '../parts/net/network.ts'
import { parseCallingOrigin } from '../parts/net/origin.ts'
import { ContactTarget } from './contact-target.ts'
import { DatabaseUrl } from './database-url.ts'
import { GeofeedSettings } from './geofeed-setting.ts'
import { ListSource } from './list-source.ts'
import { Flag, HttpUrl, List, matching, Port, Text, Unquoted, wholeNumber } from './values.ts'

/** A variable that may be unset. */
function optional<Schema extends v.GenericSchema<string, unknown>>(
  schema: Schema,
  meaning: string,
) {
  return v.optional(v.pipe(schema, v.description(meaning)))
}

/** A variable with a default value. */
function withDefault<Schema extends v.GenericSchema<string, unknown>>(
  value: v.InferInput<Schema>,
  schema: Schema,
  meaning: string,
) {
  return v.optional(v.pipe(schema, v.description(meaning)), value)
}

const Networks = v.pipe(
  List,
  v.everyItem(
    (part) => parseNetwork(part) !== null,
    'must be a comma-separated list of networks such as 10.0.0.0/8',
  ),
  v.transform((parts) => parts.map(parseNetwork).filter((network) => network !== null)),
  // IPv4 clients are compared unmapped, however they are written.
  v.mapItems(unmappedNetwork),
)

/** A field name of RFC 9110 (5.1). The header Forwarded does not hold plain addresses. */
const HeaderName = v.pipe(
  matching(
    /^(?!forwarded$)[a-z\d!#$%&'*+.^_`|~-]+$/i,
    'must be the name of a header that holds an address, such as Fly-Client-IP',
  ),
  v.toLowerCase(),
)

const toOrigin = (text: string) => originOf(parseCallingOrigin(text.replace(/\/$/, '')))
/** `URL` has no origin for the schemes of apps. */
const originOf = (url: URL | null) => (url === null ? undefined : `${url.protocol}//${url.host}`)

const Origins = v.pipe(
  List,
  v.everyItem(
    (part) => toOrigin(part) !== undefined,
    'must be a comma-separated list of origins such as https://app.example',
  ),
  v.transform((parts) => parts.map(toOrigin).filter((origin) => origin !== undefined)),
)

const DnsServers = v.pipe(
  List,
  v.check(
    isDnsServers,
    'must be a comma-separated list of IP addresses, with or without a port, such as 127.0.0.1:53',
  ),
)

/** `system`, or a list of servers. */
const Dns = v.pipe(
  v.string(),
  v.check(
    (text) => text === 'system' || isDnsServers(v.parse(List, text)),
    'must be system or a comma-separated list of IP addresses, with or without a port',
  ),
  v.transform((text) => ({ servers: text === 'system' ? undefined : v.parse(List, text) })),
)

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Every environment variable with its meaning and default. */
export const Environment = v.object({
  PORT: withDefault('8787', Port, 'Port to listen on; 0 takes any free one'),
  HOST: withDefault('127.0.0.1', Text, 'Address to listen on'),
  MERIDIAN_ADMIN_PORT: optional(
    Port,
    'Port for operators: metrics, probes and profiles; default: none',
  ),
  MERIDIAN_ADMIN_HOST: withDefault(
    '127.0.0.1',
    Text,
    'Address that the port for operators listens on; the port asks for no password',
  ),
  MERIDIAN_MAX_CONNECTIONS: withDefault(
    '10000',
    wholeNumber(10, 999_999),
    'Largest number of open connections; one address may hold a tenth of them, a trusted proxy all',
  ),
  MERIDIAN_NODES: withDefault(
    '1',
    wholeNumber(1, 64),
    'Processes that answer on the port; more than 1 need [PostgreSQL](growth.md)',
  ),
  MERIDIAN_DRAIN_SECONDS: withDefault(
    '0',
    wholeNumber(0, 300),
    'Seconds to keep taking requests after SIGTERM, with `/health` degraded',
  ),
  MERIDIAN_DATA_DIR: withDefault('data', Text, 'Folder of app.db, secrets.json and geo/'),
  MERIDIAN_BACKUP_DIR: optional(Text, 'Folder of backups; default: backups in the data folder'),
  MERIDIAN_REPLICATED: withDefault(
    '0',
    Flag,
    '1 if Litestream copies the database; scripts/with-litestream.sh sets it',
  ),
  MERIDIAN_DATABASE_URL: optional(
    DatabaseUrl,
    'PostgreSQL database that several servers share, of [one host or several](growth.md#moving); default: `app.db` in the data folder',
  ),
  MERIDIAN_SECRET: optional(
    matching(/^.{32,}$/s, 'must have at least 32 characters'),
    'Encrypts the secrets in PostgreSQL: at least 32 characters, the same on each server',
  ),
  MERIDIAN_STALE_KEYS: withDefault(
    '300',
    wholeNumber(1, 86_400),
    'Seconds for which a server accepts the keys it knows while it cannot reach PostgreSQL',
  ),
  MERIDIAN_BASE_URL: optional(HttpUrl, 'Public address of the service, used in links'),
  MERIDIAN_GEO: optional(
    List,
    'Database files to use instead of the bundled set, in order of priority',
  ),
  MERIDIAN_GEO_MMAP: withDefault(
    '1',
    Flag,
    '0 reads database files into memory instead of mapping them',
  ),
  MERIDIAN_GEO_ATLAS: withDefault(
    '1',
    Flag,
    '0 combines the databases at each look-up instead of once in advance',
  ),
  MERIDIAN_GEO_DOWNLOAD: withDefault(
    '1',
    Flag,
    '0 turns off [downloading current databases](data.md#current-files) every day',
  ),
  MERIDIAN_PLANS: optional(Text, 'JSON file with your own plans'),
  MERIDIAN_TRUSTED_PROXIES: withDefault(
    '',
    Networks,
    'Networks of proxies that are trusted to name the client',
  ),
  MERIDIAN_CLIENT_HEADER: withDefault(
    'X-Forwarded-For',
    HeaderName,
    'Header in which trusted proxies name the client, such as Fly-Client-IP; no other is read',
  ),
  MERIDIAN_DNS_SERVERS: optional(
    DnsServers,
    "Servers to ask for sites' DNS records; default: the system's",
  ),
  MERIDIAN_DNS: optional(Dns, '`system` or servers to ask for hostnames; default: none'),
  MERIDIAN_AUTH_URL: optional(
    HttpUrl,
    'Address of a better-auth service that checks sessions, instead of the built-in sign-in',
  ),
  MERIDIAN_CORS_ORIGINS: withDefault(
    '',
    Origins,
    'Origins of other sites whose pages may call account, billing and contact operations',
  ),
  MERIDIAN_SIGN_UP: withDefault(
    'open',
    v.picklist(['open', 'closed'], 'must be open or closed'),
    'Whether new users may sign up',
  ),
  MERIDIAN_DEMO: withDefault(
    '1',
    Flag,
    '0 removes the look-up form and its key from the landing page',
  ),
  MERIDIAN_SMTP_URL: optional(
    matching(
      /^smtps?:\/\/[^/?#]+/,
      'must be an smtp or smtps URL, such as smtps://mail.example:465',
    ),
    'Mail server, such as smtps://user:password@mail.example:465',
  ),
  MERIDIAN_MAIL_FROM: withDefault('Meridian <meridian@localhost>', Text, 'Sender of e-mails'),
  MERIDIAN_CONTACT: optional(
    ContactTarget,
    'Where inquiries go: `mailto:support@shop.example`, the `https` URL of a webhook, or `store`',
  ),
  MERIDIAN_CONTACT_SECRET: optional(
    matching(
      /^whsec_(?=.{32,88}$)[\w+/-]+={0,2}$/,
      'must be whsec_ followed by 24 to 64 bytes in base64',
    ),
    'Secret that signs requests to the webhook of MERIDIAN_CONTACT: `whsec_` and base64',
  ),
  TURNSTILE_SECRET_KEY: optional(
    Text,
    'Secret key of Cloudflare Turnstile, which then replaces the built-in bot check',
  ),
  TURNSTILE_HOSTNAMES: optional(List, 'Hosts whose Turnstile tokens are accepted; default: any'),
  TURNSTILE_VERIFY_URL: withDefault(
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    HttpUrl,
    'Address that checks Turnstile tokens',
  ),
  MERIDIAN_LOG_LEVEL: withDefault(
    'info',
    v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`),
    'Lowest level that is logged; requests are logged at info',
  ),
  MERIDIAN_MAXMIND_ACCOUNT_ID: optional(
    matching(/^\d+$/, 'must be a number'),
    'MaxMind account ID; with the licence key the server also downloads GeoLite2',
  ),
  MERIDIAN_MAXMIND_LICENSE_KEY: optional(Unquoted, 'Licence key of the MaxMind account'),
  MERIDIAN_MAXMIND_URL: withDefault(
    'https://download.maxmind.com',
    HttpUrl,
    'Address of MaxMind downloads',
  ),
  MERIDIAN_DBIP_URL: withDefault(
    'https://download.db-ip.com',
    HttpUrl,
    'Address of DB-IP downloads',
  ),
  MERIDIAN_LISTS: withDefault('owners', ListSource, 'Free lists from `owners`, `none` or a mirror'),
  MERIDIAN_GEOFEEDS: withDefault(
    '',
    GeofeedSettings,
    "Operators' [geofeeds](data.md#geofeeds), with the blocks that each may speak for",
  ),
  STRIPE_SECRET_KEY: optional(
    matching(/^(sk|rk)_(live|test)_\w+$/, 'must be a Stripe secret key or restricted key'),
    'Secret key of your Stripe account; without it billing is off',
  ),
  STRIPE_WEBHOOK_SECRET: withDefault(
    '',
    List,
    'Signing secret of the webhook; while you rotate it, the new and the old one',
  ),
  STRIPE_PRICE_STARTER: optional(
    List,
    'Stripe price of the plan starter, followed by older prices that stay valid',
  ),
  STRIPE_PRICE_PRO: optional(
    List,
    'Stripe price of the plan pro; each of your own plans has its own `STRIPE_PRICE_…`',
  ),
  STRIPE_PRICE_PRO_YEARLY: optional(List, 'Stripe price of a year of pro; other plans likewise'),
  STRIPE_PRICE_OVERAGE: optional(Text, 'Metered Stripe price of one request over the cap'),
  STRIPE_TAX: withDefault(
    'off',
    v.picklist(['off', 'automatic'], 'must be off or automatic'),
    '`automatic`: Stripe Tax taxes new subscriptions',
  ),
  STRIPE_API_BASE: optional(HttpUrl, 'Address of a Stripe double; not with a live key'),
})
