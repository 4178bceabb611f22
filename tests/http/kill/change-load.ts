import { Agent } from 'node:http'
import * as v from 'valibot'
import { type Answer, type Ask, createAsk, goOn } from '../restore/ask.ts'

type Action =
  | 'create_key'
  | 'renew_key'
  | 'revoke_key'
  | 'create_site'
  | 'delete_site'
  | 'send_inquiry'

/** A change that was asked for, of something that nothing else has the name of. */
export interface Change {
  readonly action: Action
  readonly name: string
  isAcknowledged: boolean
}

export interface Lives {
  readonly changes: Change[]
  /** Texts of the keys that were made, by name. */
  readonly texts: Map<string, string>
  /** Other answers than those of success and 429, by what they were. */
  readonly others: Map<string, number>
  /** Resolves when the server is gone. */
  readonly ended: Promise<unknown>
}

const Made = v.object({ id: v.string(), rawKey: v.optional(v.string(), '') })
const KEYS = '/v1/account/me/keys'
const SITES = '/v1/account/me/sites'
const LOOKUP = '/v1/ip/81.2.69.160'

/** Users whose keys and sites come and go, and who send inquiries, until the server is gone. */
export function startLives(url: string, keys: readonly string[]): Lives {
  const agent = new Agent({ keepAlive: true })
  const ask = createAsk(agent, url)
  const lives = { changes: [], texts: new Map(), others: new Map() }
  const users = keys.flatMap((key) => {
    const user = new User(ask, key, lives)
    return [repeat(() => user.useKey()), repeat(() => user.useSite()), repeat(() => user.inquire())]
  })
  return { ...lives, ended: Promise.all(users).finally(() => agent.destroy()) }
}

async function repeat(live: () => Promise<boolean>): Promise<void> {
  while (await live()) {}
}

/** Each method lives one life, and returns whether the server is still there. */
class User {
  readonly #ask: Ask
  readonly #key: string
  readonly #lives: Omit<Lives, 'ended'>

  constructor(ask: Ask, key: string, lives: Omit<Lives, 'ended'>) {
    this.#ask = ask
    this.#key = key
    this.#lives = lives
  }

  async useKey(): Promise<boolean> {
    const name = crypto.randomUUID()
    const made = await this.#change('create_key', name, ['POST', KEYS, { name }])
    if (made === null) return false
    const { id, rawKey } = v.parse(Made, JSON.parse(made.body))
    this.#lives.texts.set(name, rawKey)
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

  /** Asks until it is done; null: the server is gone. */
  async #change(
    action: Action,
    name: string,
    [method, path, body]: [method: string, path: string, body?: object],
  ): Promise<Answer | null> {
    const change = { action, name, isAcknowledged: false }
    this.#lives.changes.push(change)
    const options = { method, headers: { 'x-api-key': this.#key } }
    const sent = body === undefined ? options : { ...options, body: JSON.stringify(body) }
    for (;;) {
      const answer = await this.#ask(path, sent)
      change.isAcknowledged = answer.status >= 200 && answer.status < 300
      if (change.isAcknowledged) return answer
      if (!(await goOn(answer, this.#lives.others))) return null
    }
  }

  async #expectRevoked(text: string): Promise<boolean> {
    const { status } = await askWith(this.#ask, text)
    return status === 401 || goOn({ status, body: 'to a revoked key', at: 0 }, this.#lives.others)
  }
}

let clients = 0

/** Asks for a look-up from a new address, since failures of one are limited. */
export function askWith(ask: Ask, key: string): Promise<Answer> {
  clients += 1
  const from = `10.9.${clients >> 8}.${clients & 255}`
  return ask(LOOKUP, { method: 'GET', headers: { 'x-api-key': key, 'x-forwarded-for': from } })
}
