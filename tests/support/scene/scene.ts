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

/** Stands for the service that is open: its properties are those of the present one. */
function createScene(options: Given, setUp?: SetUp) {
  let current: TestApp | undefined
  const opened = () => current ?? assert.fail('the service is open only while tests run')
  const user = (name: string) => createPerson(scene, name)
  const restart = async (env?: AppOptions['env']) => {
    current = await opened().restart(env)
    return scene
  }
  const fixed = { user, restart }
  const scene = new Proxy(fixed, {
    get: (_, name) => Reflect.get(name in fixed ? fixed : opened(), name),
    // safe: every other property is one of the service
  }) as TestApp
  return {
    scene,
    open: async () => {
      current = await makeApp(typeof options === 'function' ? options() : options)
      await setUp?.()
    },
    close: () => current?.close(),
  }
}
