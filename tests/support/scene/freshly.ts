import assert from 'node:assert/strict'
import { afterEach, beforeEach } from 'node:test'

/** What `open` returns, opened anew before each test of the file or suite and closed after it. */
export function freshly<Opened extends AsyncDisposable>(open: () => Promise<Opened>): Opened {
  let current: Opened | undefined
  beforeEach(async () => {
    current = await open()
  })
  afterEach(async () => {
    await current?.[Symbol.asyncDispose]()
    current = undefined
  })
  return standInFor(() => current)
}

/** Returns a function that returns what it gets, and closes it after the test. */
export function closedAfterTest() {
  let closing = new AsyncDisposableStack()
  afterEach(async () => {
    await closing.disposeAsync()
    closing = new AsyncDisposableStack()
  })
  return <Opened extends AsyncDisposable>(opened: Opened): Opened => closing.use(opened)
}

/** Has the properties of what `find` returns at that moment. */
export function standInFor<Opened extends object>(find: () => Opened | undefined): Opened {
  const opened = () => find() ?? assert.fail('it is open only while tests run')
  const get = (_: object, name: string | symbol) => Reflect.get(opened(), name)
  const set = (_: object, name: string | symbol, value: unknown) =>
    Reflect.set(opened(), name, value)
  // safe: only its properties are read and set
  return new Proxy({}, { get, set }) as Opened
}
