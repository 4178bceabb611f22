import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach } from 'node:test'

/** What `open` returns, opened anew before each test of the file or suite and closed after it. */
export function freshly<Opened extends AsyncDisposable>(open: () => Promise<Opened>): Opened {
  return openedBetween(open, beforeEach, afterEach)
}

/** What `open` returns, opened before the first test of the file or suite and closed after the last one. */
export function shared<Opened extends AsyncDisposable>(open: () => Promise<Opened>): Opened {
  return openedBetween(open, before, after)
}

function openedBetween<Opened extends AsyncDisposable>(
  open: () => Promise<Opened>,
  begin: (hook: () => Promise<void>) => void,
  end: (hook: () => Promise<void>) => void,
): Opened {
  let current: Opened | undefined
  begin(async () => {
    current = await open()
  })
  end(async () => {
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
  // safe: only its properties are read and set, one by one or all of them
  return new Proxy({} as Opened, {
    get: (_, name) => Reflect.get(opened(), name),
    set: (_, name, value) => Reflect.set(opened(), name, value),
    ownKeys: () => Reflect.ownKeys(opened()),
    getOwnPropertyDescriptor: (_, name) => Reflect.getOwnPropertyDescriptor(opened(), name),
  })
}
