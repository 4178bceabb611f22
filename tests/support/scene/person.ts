import assert from 'node:assert/strict'
import * as v from 'valibot'
import { findUserByEmail, type UserRow } from '../../../lib/accounts/users.ts'
import {
  AuditList,
  type AuditLogEntry,
  Site,
} from '../../../lib/contract/account/account-schemas.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Answer } from '../contract-check.ts'
import { write } from '../database/sql.ts'
import type { MailServer } from '../mail-server.ts'
import { PASSWORD, signIn, signUp, signUpByMail } from '../sign-in.ts'
import type { KeyOptions } from './make-key.ts'
import { cookieOf, type Page, type PageOptions, signInNewUser, visitPage } from './pages.ts'
import type { Routed, SendOptions } from './send.ts'

/** A session at the API. */
export interface Session {
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
  send(method: string, path: string, body?: unknown): Promise<Answer>
}

/** Somebody with an address at example.com. Nobody knows them until they make a key or sign in. */
export interface Person {
  readonly email: string
  /** Makes a key, as `npm run key` does. Moves the person to the plan; default: Pro. */
  key(options?: Omit<KeyOptions, 'email'>): Promise<string>
  /** Sends a request with the newest key, or with the session if there is no key. */
  send(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Answer>
  /** Looks an address up. It may end in more of the path: `81.2.69.160/timezone`. */
  lookUp(address?: string, options?: SendOptions): Promise<Answer>
  /** Registers the site. */
  site(origin: string): Promise<Site>
  /** The audit log, newest entry first. */
  audit(): Promise<readonly AuditLogEntry[]>
  /** Signs up at the API, where no mail is sent. */
  signUp(): Promise<Session>
  /** Signs up where mail is sent, by the link in the next mail. */
  signUpByMail(mail: MailServer): Promise<Session>
  /** Begins one more session at the API. */
  signIn(): Promise<Session>
  /** Opens a page of the dashboard; the first time, after signing in to it. */
  visit(path: string, options?: Omit<PageOptions, 'cookie'>): Promise<Page>
  /** Submits a form of the dashboard. */
  submit(path: string, form?: PageOptions['form'], options?: PageOptions): Promise<Page>
  /** Signs in to the dashboard, once. Returns the Cookie header of the session. */
  enter(): Promise<string>
  /** The stored user; the first time, after signing up. */
  row(): Promise<UserRow>
}

/** What people use of a service. */
export interface Stage extends Routed {
  readonly services: Services
  readonly dataDir: string
  send(method: string, path: string, options?: SendOptions): Promise<Answer>
  makeKey(options?: KeyOptions): Promise<string>
}

/** What a person has in hand at one service. */
interface Hand {
  key?: string
  session?: Promise<Session>
  cookie?: Promise<string>
}

const hands = new Map<string, Hand>()

/** `role`: what the person becomes when signing up at the dashboard. */
export function createPerson(app: Stage, name: string, role: UserRow['role'] = 'user'): Person {
  const email = `${name}@example.com`
  const hand = () => handOf(`${app.dataDir} ${email}`)
  const signedUp = () => {
    const { cookie } = hand()
    hand().session ??= (cookie === undefined ? signUp(app, email) : signIn(app, email)).then(
      (token) => toSession(app, token),
    )
    return hand().session ?? assert.fail()
  }
  const credential = async (): Promise<SendOptions> => {
    const { key } = hand()
    return key === undefined ? { headers: (await signedUp()).headers } : { key }
  }
  const person: Person = {
    email,
    key: async (options = {}) => {
      const key = await app.makeKey({ ...options, email })
      hand().key = key
      return key
    },
    send: async (method, path, body, options = {}) => {
      const { headers, ...by } = await credential()
      const both = { ...headers, ...options.headers }
      return app.send(method, path, { ...by, body, ...options, headers: both })
    },
    lookUp: (address = '81.2.69.160', options = {}) =>
      person.send('GET', `/v1/ip/${address}`, undefined, options),
    site: async (origin) => {
      const { status, body, text } = await person.send('POST', SITES, { name: origin })
      assert.equal(status, 201, text)
      return v.parse(Site, body)
    },
    audit: async () =>
      v.parse(AuditList, (await person.send('GET', '/v1/account/me/audit')).body).logs,
    signUp: signedUp,
    signUpByMail: (mail) => {
      const session = signUpByMail(app, mail, email).then((token) => toSession(app, token))
      hand().session = session
      return session
    },
    signIn: async () => toSession(app, await signIn(app, email)),
    visit: async (path, options = {}) =>
      visitPage(app, path, { ...options, cookie: await person.enter() }),
    submit: async (path, form = {}, options = {}) =>
      visitPage(app, path, { cookie: await person.enter(), ...options, form }),
    enter: () => {
      const { session } = hand()
      hand().cookie ??=
        session === undefined ? join(app, email, role) : session.then(() => enter(app, email))
      return hand().cookie ?? assert.fail()
    },
    row: async () => {
      const find = () => findUserByEmail(app.services.db, email)
      const known = await find()
      if (known === null) await person.enter()
      return known ?? (await find()) ?? assert.fail(email)
    },
  }
  return person
}

const SITES = '/v1/account/me/sites'

function handOf(id: string): Hand {
  const known = hands.get(id) ?? {}
  hands.set(id, known)
  return known
}

function toSession(app: Stage, token: string): Session {
  const headers = { authorization: `Bearer ${token}` }
  return { token, headers, send: (method, path, body) => app.send(method, path, { headers, body }) }
}

/** Signs up at the dashboard. Returns the cookie of the session. */
async function join(app: Stage, email: string, role: UserRow['role']): Promise<string> {
  const cookie = await signInNewUser(app, email)
  if (role !== 'user') await write(app, 'UPDATE users SET role = ? WHERE email = ?', role, email)
  return cookie
}

/** Signs in to the dashboard. Returns the cookie of the session. */
async function enter(app: Stage, email: string): Promise<string> {
  const page = await visitPage(app, '/app/sign-in', { form: { email, password: PASSWORD } })
  assert.equal(page.status, 303, page.html)
  return cookieOf(page)
}
