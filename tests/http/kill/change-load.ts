import { Agent } from 'node:http'
import * as v from 'valibot'
import { type Answer, type Ask, createAsk, mayGoOn } from '../../backup/drill/ask.ts'

type Action =
  | 'create_key'
  | 'renew_key'
  | 'revoke_key'
  | 'create_site'
  | 'delete_site'
  | 'send_inquiry'

/** A change that a client requested. Its name is unique. */
export interface Change {
  readonly action: Action
  readonly name: string
  isAcknowledged: boolean
}

export interface ChangeLoad {
  readonly changes: Change[]
  /** Texts of the created keys, by name. */
  readonly texts: Map<string, string>
  /** Answers other than success and 429. */
  readonly others: Map<string, number>
  /** Resolves when the server has ended. */
  readonly ended: Promise<unknown>
}

const Made = v.object({ id: v.string(), rawKey: v.optional(v.string(), '') })
const KEYS = '/v1/account/me/keys'
const SITES = '/v1/account/me/sites'
const LOOKUP = '/v1/ip/81.2.69.160'

/** Life cycles of each kind that run at the same time. */
const CLIENTS = 3

/**
 * Starts clients that create and delete keys and sites and send inquiries until the server ends. Each
 * life cycle belongs to the next user, because each user may create only a few.
 */
export function startChangeLoad(url: string, keys: readonly string[]): ChangeLoad {
  const agent = new Agent({ keepAlive: true })
  const ask = createAsk(agent, url)
  const load = { changes: [], texts: new Map(), others: new Map() }
  let users = 0
  const nextUser = () => new User(ask, keys[users++ % keys.length] ?? '', load)
  const clients = Array.from({ length: CLIENTS }, () => [
    repeat(() => nextUser().useKey()),
    repeat(() => nextUser().useSite()),
    repeat(() => nextUser().inquire()),
  ])
  return { ...load, ended: Promise.all(clients.flat()).finally(() => agent.destroy()) }
}

async function repeat(runLifeCycle: () => Promise<boolean>): Promise<void> {
  while (await runLifeCycle()) {}
}

/** Each method runs one life cycle. It returns whether the server is still running. */
class User {
  readonly #ask: Ask
  readonly #key: string
  readonly #load: Omit<ChangeLoad, 'ended'>

  constructor(ask: Ask, key: string, load: Omit<ChangeLoad, 'ended'>) {
    this.#ask = ask
    this.#key = key
    this.#load = load
  }

  async useKey(): Promise<boolean> {
    const name = crypto.randomUUID()
    const made = await this.#change('create_key', name, ['POST', KEYS, { name }])
    if (made === null) return false
    const { id, rawKey } = v.parse(Made, JSON.parse(made.body))
    this.#load.texts.set(name, rawKey)
    const path = `${KEYS}/${id}`
    if (!(await this.#change('renew_key', name, ['POST', `${path}/renew`]))) return false
    if (Math.random() < 0.3) return true
    if (!(await this.#change('revoke_key', name, ['DELETE', path]))) return false
    return this.#expectRevoked(rawKey)
  }

  async useSite(): Promise<boolean> {
    const name = `https://${crypto.randomUUID()}.example`
    const made = await this.#change('create_site', name, ['POST', SITES, { name }])
    if (made === null) return false
    if (Math.random() < 0.3) return true
    const { id } = v.parse(Made, JSON.parse(made.body))
    return (await this.#change('delete_site', name, ['DELETE', `${SITES}/${id}`])) !== null
  }

  async inquire(): Promise<boolean> {
    const message = crypto.randomUUID()
    const body = { name: 'Ada Example', message }
    return (
      (await this.#change('send_inquiry', message, ['POST', '/v1/billing/contact', body])) !== null
    )
  }

  /** Repeats the request until it succeeds. Returns null if the server has ended. */
  async #change(
    action: Action,
    name: string,
    [method, path, body]: [method: string, path: string, body?: object],
  ): Promise<Answer | null> {
    const change = { action, name, isAcknowledged: false }
    this.#load.changes.push(change)
    const options = { method, headers: { 'x-api-key': this.#key, ...fromNewAddress() } }
    const sent = body === undefined ? options : { ...options, body: JSON.stringify(body) }
    for (;;) {
      const answer = await this.#ask(path, sent)
      change.isAcknowledged = answer.status >= 200 && answer.status < 300
      if (change.isAcknowledged) return answer
      if (!(await mayGoOn(answer, this.#load.others))) return null
    }
  }

  async #expectRevoked(text: string): Promise<boolean> {
    const { status } = await askWith(this.#ask, text)
    return status === 401 || mayGoOn({ status, body: 'to a revoked key', at: 0 }, this.#load.others)
  }
}

let clients = 0

export function askWith(ask: Ask, key: string): Promise<Answer> {
  return ask(LOOKUP, { method: 'GET', headers: { 'x-api-key': key, ...fromNewAddress() } })
}

/** Failures and inquiries are limited per address. */
function fromNewAddress() {
  clients += 1
  return { 'x-forwarded-for': `10.${9 + (clients >> 16)}.${(clients >> 8) & 255}.${clients & 255}` }
}
