import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach } from 'node:test'
import { type AppOptions, makeApp, type TestApp } from '../helpers.ts'
import { createPerson } from './person.ts'

/** The options of a service, or what returns them once it opens. */
type Given = AppOptions | (() => AppOptions)
/** Not a hook of its own: at the root of a file, node:test does not wait for one `before` before the next. */
type SetUp = () => Promise<void>

/**
 * A service of its own for each test of the file or suite, open from before the test until after it. `setUp`
 * runs as soon as it is open.
 */
export function freshScene(options: Given = {}, setUp?: SetUp): TestApp {
  const { scene, open, close } = createScene(options, setUp)
  beforeEach(open)
  afterEach(close)
  return scene
}

/** One service for all tests of the file or suite. */
export function sharedScene(options: Given = {}, setUp?: SetUp): TestApp {
  const { scene, open, close } = createScene(options, setUp)
  before(open)
  after(close)
  return scene
}

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
function standInFor<Opened extends object>(find: () => Opened | undefined): Opened {
  const get = (_: object, name: string | symbol) =>
    Reflect.get(find() ?? assert.fail('it is open only while tests run'), name)
  // safe: only its properties are read
  return new Proxy({}, { get }) as Opened
}

function createScene(options: Given, setUp?: SetUp) {
  let current: TestApp | undefined
  const opened = standInFor(() => current)
  const own = {
    user: (name: string) => createPerson(scene, name),
    operator: (name: string) => createPerson(scene, name, 'operator'),
    restart: async (env?: AppOptions['env']) => {
      current = await opened.restart(env)
      return scene
    },
  }
  const get = (_: object, name: string | symbol) => Reflect.get(name in own ? own : opened, name)
  // safe: every other property is one of the service
  const scene = new Proxy({}, { get }) as TestApp
  return {
    scene,
    open: async () => {
      current = await makeApp(typeof options === 'function' ? options() : options)
      await setUp?.()
    },
    close: () => current?.close(),
  }
}
