import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { mintKey } from '../lib/access/api-key.ts'
import { insertKey, keyExpiry, newKey } from '../lib/access/keys.ts'
import { MAX_ORIGINS, parseOriginPattern } from '../lib/access/origins.ts'
import { parseScope } from '../lib/access/scopes.ts'
import { type AuditEvent, insertAudit } from '../lib/accounts/audit.ts'
import { findUserByEmail, insertUser, newUser, updatePlan } from '../lib/accounts/users.ts'
import { readConfig } from '../lib/config.ts'
import { SCOPES } from '../lib/contract/operation.ts'
import { makeDataDir } from '../lib/data-dir.ts'
import { type Db, openDb } from '../lib/db/open.ts'
import { unit } from '../lib/db/unit.ts'
import { type Plan, type Plans, readPlans } from '../lib/plans.ts'
import { run } from './run.ts'

const USAGE = `Usage: npm run --silent key -- --email you@example.com --name first
  --plan free|starter|pro       set the user's plan
  --type secret|publishable     default: secret
  --scopes geo:read,…           secret keys; default: all of ${SCOPES.join(', ')}
  --origins https://a,https://b publishable keys; https://*.example.com for subdomains`

const List = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
)

const Options = v.strictObject({
  email: v.pipe(v.string('is missing'), v.email('must be an e-mail address')),
  name: v.pipe(
    v.string('is missing'),
    v.nonEmpty('must not be empty'),
    v.maxLength(100, 'must have at most 100 characters'),
  ),
  plan: v.optional(v.string()),
  type: v.optional(
    v.picklist(['secret', 'publishable'], 'must be secret or publishable'),
    'secret',
  ),
  scopes: v.optional(
    v.pipe(
      List,
      v.mapItems((name) => parseScope(name) ?? null),
      v.everyItem((scope) => scope !== null, `must be some of ${SCOPES.join(', ')}`),
      v.transform((scopes) => SCOPES.filter((scope) => scopes.includes(scope))),
    ),
  ),
  origins: v.optional(
    v.pipe(
      List,
      v.maxLength(MAX_ORIGINS, `must be at most ${MAX_ORIGINS}`),
      v.mapItems((text) => parseOriginPattern(text)?.text ?? null),
      v.everyItem(
        (origin) => origin !== null,
        'must be origins such as https://app.example or https://*.example.com',
      ),
      v.transform((origins) => origins.filter((origin) => origin !== null)),
    ),
  ),
})
type Options = v.InferOutput<typeof Options>

await run(async () => {
  const options = readOptions(process.argv.slice(2))
  const config = readConfig(process.env)
  const plans = readPlans(config.plansFile)
  makeDataDir(config.dataDir)
  const db = openDb(join(config.dataDir, 'app.db'))
  try {
    process.stdout.write(`${await createKey(db, plans, options)}\n`)
  } finally {
    db.$client.close()
  }
})

function readOptions(args: string[]): Options {
  const { values } = parseOptions(args)
  const given = { email: undefined, name: undefined, ...values }
  const result = v.safeParse(Options, given, { abortEarly: true })
  if (!result.success) {
    const [issue] = result.issues
    throw new Error(`--${v.getDotPath(issue) ?? 'options'} ${issue.message}\n\n${USAGE}`)
  }
  checkType(result.output)
  return result.output
}

function parseOptions(args: string[]) {
  const text = { type: 'string' } as const
  const options = { email: text, name: text, plan: text, type: text, scopes: text, origins: text }
  try {
    return parseArgs({ args, options })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function checkType({ type, scopes, origins }: Options): void {
  if (type === 'secret' && origins !== undefined) {
    throw new Error('--origins is for publishable keys: add --type publishable')
  }
  if (type === 'publishable' && origins === undefined) {
    throw new Error('--origins is missing: a publishable key needs at least one')
  }
  if (type === 'publishable' && scopes?.some((scope) => scope !== 'geo:read')) {
    throw new Error('--scopes of a publishable key can only be geo:read')
  }
}

/** Makes the key, and the user if new. Returns the text of the key. */
async function createKey(db: Db, plans: Plans, options: Options): Promise<string> {
  const now = Date.now()
  const { user, plan } = await userWithPlan(db, plans, options, now)
  const minted = mintKey(options.type)
  const key = newKey(minted, {
    userId: user.id,
    name: options.name,
    type: options.type,
    scopes: options.type === 'publishable' ? ['geo:read'] : (options.scopes ?? null),
    allowedOrigins: options.origins ?? null,
    now,
    expiresAt: keyExpiry(plan, now),
  })
  const target = { targetType: 'api_key', targetId: key.id, detail: key.name }
  const audit = auditRow({ actorId: user.id, action: 'create_key', ...target }, now)
  if (await unit(db, [insertKey(db, key, plan.maxKeys), insertAudit(db, audit)])) {
    report(`Key ${key.prefix}… of ${user.email}, plan ${plan.id}. It is shown only now:`)
    return minted.text
  }
  throw new Error(
    `${user.email} has the ${plan.maxKeys} keys that the plan ${plan.id} allows; set another with --plan`,
  )
}

async function userWithPlan(db: Db, plans: Plans, { email, plan: planId }: Options, now: number) {
  const wanted = planId === undefined ? undefined : findPlan(plans, planId)
  const known = await findUserByEmail(db, email)
  if (known === null) {
    const plan = wanted ?? plans.free
    const user = newUser({ email, plan: plan.id, now })
    const audit = auditRow({ actorId: user.id, action: 'create_user', detail: plan.id }, now)
    await unit(db, [insertUser(db, user), insertAudit(db, audit)])
    // Read again: another process may have been faster.
    return { user: (await findUserByEmail(db, email)) ?? user, plan }
  }
  const plan = wanted ?? plans.find(known.plan) ?? plans.free
  if (plan.id !== known.plan) {
    const audit = auditRow({ actorId: known.id, action: 'change_plan', detail: plan.id }, now)
    await unit(db, [updatePlan(db, known.id, plan.id), insertAudit(db, audit)])
  }
  return { user: known, plan }
}

function findPlan(plans: Plans, id: string): Plan {
  const plan = plans.find(id)
  if (plan !== undefined) return plan
  const ids = plans.list.map((known) => known.id).join(', ')
  throw new Error(`--plan must be one of ${ids}, got "${id}"`)
}

function auditRow(event: Omit<AuditEvent, 'app' | 'createdAt'>, now: number): AuditEvent {
  return { app: 'cli', actorLabel: 'npm run key', createdAt: now, ...event }
}

function report(text: string): void {
  process.stderr.write(`${text}\n`)
}
