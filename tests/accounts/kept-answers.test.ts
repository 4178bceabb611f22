import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeptAnswers } from '../../lib/accounts/kept-answers.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import type { Db } from '../../lib/db/open.ts'
import { keptAnswers, users } from '../../lib/db/tables.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'

const open = storeOfTest()
const REQUEST = { id: ['form', 'id 1', 'ada'], userId: null, body: 'name=Shop' }
const SECRET = 'ab'.repeat(32)

function answersOf(db: Db, clock = { now: NOON }) {
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  return { errors, ...createKeptAnswers({ db, secret: SECRET, now: () => clock.now, onError }) }
}

/** Acts that answer with their number. */
function counting(ms: number | null = 10 * MINUTE_MS) {
  let acts = 0
  return {
    acts: () => acts,
    act: async () => {
      acts += 1
      return { answer: { status: 303, key: `secret ${acts}` }, ms }
    },
  }
}

describe('a request that arrives twice', () => {
  it('is answered once, and its copy, at another node too, gets the same answer', async () => {
    const { db, other } = await open()
    const { act, acts } = counting()
    const first = await answersOf(db).answerOnce(REQUEST, act)
    assert.deepEqual(await answersOf(db).answerOnce(REQUEST, act), first)
    assert.deepEqual(await answersOf(other).answerOnce(REQUEST, act), first)
    assert.equal(acts(), 1)
  })

  it('waits while the first copy is being answered', async () => {
    const { db, other } = await open()
    const { act, acts } = counting()
    const { promise: late, resolve: answer } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const first = answersOf(db).answerOnce(REQUEST, async () => {
      begun.resolve()
      await late
      return act()
    })
    await begun.promise
    const copies = [answersOf(db), answersOf(other)].map((one) => one.answerOnce(REQUEST, act))
    answer()
    const answers = await Promise.all([first, ...copies])
    assert.deepEqual(answers[1], answers[0])
    assert.deepEqual(answers[2], answers[0])
    assert.equal(acts(), 1)
  })

  it('is answered once if its copies arrive at the same moment', async () => {
    const { db, other } = await open()
    const { act, acts } = counting()
    const nodes = [answersOf(db), answersOf(other), answersOf(db), answersOf(other)]
    const answers = await Promise.all(nodes.map((node) => node.answerOnce(REQUEST, act)))
    assert.equal(new Set(answers.map(({ key }) => key)).size, 1)
    assert.equal(acts(), 1)
  })

  it('waits for the first copy in its process without asking the database', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const { act, acts } = counting()
    const { promise: late, resolve: answer } = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const first = answers.answerOnce(REQUEST, async () => {
      begun.resolve()
      await late
      return act()
    })
    await begun.promise
    await db.delete(keptAnswers).run()
    const copy = answers.answerOnce(REQUEST, act)
    const other = answers.answerOnce({ ...REQUEST, body: 'name=Other' }, act)
    await assert.rejects(other, { code: 'IDEMPOTENCY_KEY_REUSED' })
    answer()
    assert.deepEqual(await copy, await first)
    assert.equal(acts(), 1)
  })

  it('is answered anew after a fault, or an answer that is not to be kept', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const fails = () => answers.answerOnce(REQUEST, () => Promise.reject(new Error('full')))
    await assert.rejects(fails, /full/)
    const passing = counting(null)
    await answers.answerOnce(REQUEST, passing.act)
    await answers.answerOnce(REQUEST, passing.act)
    assert.equal(passing.acts(), 2)
    assert.deepEqual(await db.select().from(keptAnswers).all(), [])
  })

  it('is answered anew once the answer has expired', async () => {
    const { db } = await open()
    const clock = { now: NOON }
    const { act, acts } = counting(MINUTE_MS)
    await answersOf(db, clock).answerOnce(REQUEST, act)
    clock.now += MINUTE_MS - 1
    await answersOf(db, clock).answerOnce(REQUEST, act)
    assert.equal(acts(), 1)
    clock.now += 1
    await answersOf(db, clock).answerOnce(REQUEST, act)
    assert.equal(acts(), 2)
  })

  it('is answered anew some seconds after the process that answered it died', async () => {
    const { db } = await open()
    const clock = { now: NOON }
    const { act } = counting()
    const died = new Promise<never>(() => {})
    const begun = Promise.withResolvers<void>()
    void answersOf(db, clock).answerOnce(REQUEST, () => {
      begun.resolve()
      return died
    })
    await begun.promise
    clock.now += MINUTE_MS
    assert.deepEqual((await answersOf(db, clock).answerOnce(REQUEST, act)).key, 'secret 1')
  })

  it('is another request if anything but the answer differs', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const { act, acts } = counting()
    await answers.answerOnce(REQUEST, act)
    await answers.answerOnce({ ...REQUEST, id: ['form', 'id 1', 'eve'] }, act)
    await answers.answerOnce({ ...REQUEST, id: ['form', 'id 2', 'ada'] }, act)
    assert.equal(acts(), 3)
    const reused = answers.answerOnce({ ...REQUEST, body: 'name=Other' }, act)
    await assert.rejects(reused, { code: 'IDEMPOTENCY_KEY_REUSED' })
    assert.equal(acts(), 3)
  })

  it('is found by its alias', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const { act } = counting()
    const alias = ['form', 'id 1', 'session']
    assert.equal(await answers.find(alias, REQUEST.body), null)
    const first = await answers.answerOnce({ ...REQUEST, alias }, act)
    assert.deepEqual(await answers.find(alias, REQUEST.body), first)
    assert.equal(await answers.find(['form', 'id 1', 'another'], REQUEST.body), null)
  })

  it('leaves nothing readable in the database, and nothing that fits another request', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const { act } = counting()
    const answer = await answers.answerOnce({ ...REQUEST, alias: ['form', 'id 1', 'session'] }, act)
    await answers.answerOnce({ ...REQUEST, id: ['eve'] }, act)
    const [ada, eve] = await db.select().from(keptAnswers).orderBy(keptAnswers.expiresAt).all()
    const text = JSON.stringify([ada, eve])
    for (const part of ['id 1', REQUEST.body, answer.key, 'session'])
      assert.ok(!text.includes(part), part)
    const moved = ada?.answer ?? ''
    await db.update(keptAnswers).set({ answer: moved }).run()
    const both = await Promise.allSettled([
      answers.answerOnce(REQUEST, act),
      answers.answerOnce({ ...REQUEST, id: ['eve'] }, act),
    ])
    assert.equal(both.filter(({ status }) => status === 'rejected').length, 1)
  })

  it('is answered, but not kept, if the answer is too large', async () => {
    const { db } = await open()
    const answers = answersOf(db)
    const text = noise()
    const answer = await answers.answerOnce(REQUEST, async () => ({ answer: text, ms: MINUTE_MS }))
    assert.equal(answer, text)
    assert.equal((await db.select().from(keptAnswers).all()).length, 0)
  })

  it('is forgotten with its user, unless it is what deleted the user', async () => {
    const { db } = await open()
    const userId = await addUser(db)
    const answers = answersOf(db)
    const { act, acts } = counting()
    const remove = async () => {
      await db.delete(users).run()
      return act()
    }
    await answers.answerOnce({ ...REQUEST, userId }, act)
    await answers.answerOnce({ ...REQUEST, id: ['delete'], userId }, remove)
    assert.equal((await db.select().from(keptAnswers).all()).length, 1)
    await answers.answerOnce({ ...REQUEST, id: ['delete'] }, remove)
    assert.equal(acts(), 2)
  })

  it('leaves at most 200 answers of one user, the last ones', async () => {
    const { db } = await open()
    const [ada, eve] = [await addUser(db, 'ada'), await addUser(db, 'eve')]
    const clock = { now: NOON }
    const answers = answersOf(db, clock)
    const { act, acts } = counting()
    const send = (id: number, userId = ada) =>
      answers.answerOnce({ ...REQUEST, id: [`${id}`], userId }, act)
    await send(1000, eve)
    for (let id = 0; id < 210; id++) {
      clock.now += 1
      await send(id)
    }
    assert.equal((await db.select().from(keptAnswers).all()).length, 201)
    for (const [id, userId] of [
      [1000, eve],
      [10, ada],
      [209, ada],
    ] as const)
      await send(id, userId)
    assert.equal(acts(), 211)
  })

  it('removes what has expired, so that a flood does not fill the database', async () => {
    const { db } = await open()
    const clock = { now: NOON }
    const answers = answersOf(db, clock)
    const { act } = counting(MINUTE_MS)
    for (const id of ['1', '2', '3']) await answers.answerOnce({ ...REQUEST, id: [id] }, act)
    clock.now += MINUTE_MS
    await answers.answerOnce({ ...REQUEST, id: ['4'] }, act)
    assert.equal((await db.select().from(keptAnswers).all()).length, 1)
  })
})

/** A text that does not compress to less than 24 KB, which are more than 32 KB once they are sealed. */
function noise(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(24_576))).toString('base64')
}

async function addUser(db: Db, name = 'ada'): Promise<string> {
  const user = newUser({ email: `${name}@example.com`, plan: 'free', now: NOON })
  await insertUser(db, user).run()
  return user.id
}
