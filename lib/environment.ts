import * as v from 'valibot'
import { parseContactTarget } from './contact-target.ts'
import { parseNetwork } from './network.ts'

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

export const List = v.pipe(
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

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Every environment variable that is read, with its meaning and default. */
export const Environment = v.object({
  PORT: v.optional(v.pipe(Port, describe('Port to listen on; 0 takes any free one')), '8787'),
  HOST: v.optional(v.pipe(v.string(), describe('Address to listen on')), '127.0.0.1'),
  MERIDIAN_ADMIN_PORT: v.optional(
    v.pipe(Port, describe('Port of metrics, probes and profiles, for operators; default: none')),
  ),
  MERIDIAN_ADMIN_HOST: v.optional(
    v.pipe(v.string(), describe('Address to listen on for operators; it has no password')),
    '127.0.0.1',
  ),
  MERIDIAN_MAX_CONNECTIONS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{2,6}$/, 'must be a number from 10 to 999999'),
      v.toNumber(),
      v.minValue(10, 'must be a number from 10 to 999999'),
      describe('Connections open at once; a tenth of them from one address, unless of a proxy'),
    ),
    '10000',
  ),
  MERIDIAN_DATA_DIR: v.optional(
    v.pipe(v.string(), describe('Folder of app.db, secrets.json and geo/')),
    'data',
  ),
  MERIDIAN_BACKUP_DIR: v.optional(
    v.pipe(v.string(), describe('Folder of backups; default: backups in the data folder')),
  ),
  MERIDIAN_REPLICATED: v.optional(
    v.pipe(Flag, describe('1: Litestream copies the database; scripts/with-litestream.sh sets it')),
    '0',
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
  MERIDIAN_GEO_ATLAS: v.optional(
    v.pipe(Flag, describe('0 merges the databases at each look-up, never beforehand')),
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
  MERIDIAN_DEMO: v.optional(
    v.pipe(Flag, describe('0 takes the field for look-ups, and its key, off the landing page')),
    '1',
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
  MERIDIAN_CONTACT: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => parseContactTarget(text) !== null,
        'must be store, mailto: with an address, or an https URL',
      ),
      describe(
        'Where inquiries go: `mailto:support@shop.example`, the `https` URL of a webhook, or `store`',
      ),
    ),
  ),
  MERIDIAN_CONTACT_SECRET: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^whsec_(?=.{32,88}$)[\w+/-]+={0,2}$/,
        'must be whsec_ followed by 24 to 64 bytes in base64',
      ),
      describe('Secret that signs what is sent to that webhook: `whsec_` and base64'),
    ),
  ),
  TURNSTILE_SECRET_KEY: v.optional(
    v.pipe(
      v.string(),
      describe('Secret key of Cloudflare Turnstile, which then checks for bots instead of us'),
    ),
  ),
  TURNSTILE_HOSTNAMES: v.optional(
    v.pipe(List, describe('Hosts of the pages whose Turnstile widget counts; default: any')),
  ),
  TURNSTILE_VERIFY_URL: v.optional(
    v.pipe(HttpUrl, describe('Where Turnstile tokens are checked')),
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
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
      describe('MaxMind account, from which a server downloads databases once a day'),
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
  STRIPE_SECRET_KEY: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(sk|rk)_(live|test)_\w+$/, 'must be a secret or restricted key of Stripe'),
      describe('Secret key of your Stripe account; without it nothing is sold'),
    ),
  ),
  STRIPE_WEBHOOK_SECRET: v.optional(
    v.pipe(
      List,
      describe('Signing secret of the webhook; while you replace it, the new and the old one'),
    ),
    '',
  ),
  STRIPE_PRICE_STARTER: v.optional(
    v.pipe(List, describe('Stripe price of the plan starter; older ones after it stay good')),
  ),
  STRIPE_PRICE_PRO: v.optional(
    v.pipe(
      List,
      describe('Stripe price of the plan pro; plans of your own have a `STRIPE_PRICE_…` each'),
    ),
  ),
  STRIPE_PRICE_OVERAGE: v.optional(
    v.pipe(v.string(), describe('Metered Stripe price of one request over the cap')),
  ),
  STRIPE_API_BASE: v.optional(
    v.pipe(HttpUrl, describe('Where a Stripe double listens; not together with a live key')),
  ),
})
