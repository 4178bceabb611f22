import { after, afterEach, before, beforeEach } from 'node:test'
import { type AppOptions, makeApp, type TestApp } from '../helpers.ts'
import { standInFor } from './freshly.ts'
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
