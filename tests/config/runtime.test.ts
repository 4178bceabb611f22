import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkNodes, checkRuntime, nameRuntime } from '../../lib/config/runtime.ts'

/** The versions that each runtime reports. */
const BUN = { node: '26.3.0', bun: '1.4.5' }
const DENO = { node: '26.3.0', deno: '2.9.6' }

describe('checkRuntime', () => {
  it('accepts the current runtime and newer ones', () => {
    checkRuntime(process.versions)
    for (const node of ['24.0.0', '26.1.0', '100.0.0']) checkRuntime({ node })
    for (const bun of ['1.4.5', '1.10.0', '2.0.0']) checkRuntime({ ...BUN, bun })
    for (const deno of ['2.9.6', '2.10.0', '3.0.0']) checkRuntime({ ...DENO, deno })
  })

  it('refuses older runtimes and says what to do', () => {
    for (const node of ['20.20.0', '22.21.0', '23.9.9', '9.0.0', '']) {
      const message = /^Error: Cannot run on Node\.js .* npm ci, .* npm start, /
      assert.throws(() => checkRuntime({ node }), message)
    }
    assert.throws(() => checkRuntime({}), /version 24\.0 or newer/)
    assert.throws(() => checkRuntime({ ...BUN, bun: '1.3.9' }), /on Bun 1\.3\.9: version 1\.4 or/)
    assert.throws(() => checkRuntime({ ...DENO, deno: '1.46.3' }), /on Deno 1\.46\.3: version 2\.9/)
  })
})

describe('checkNodes', () => {
  const node = { node: '24.0.0' }
  const one = { processes: 1 }
  const two = { processes: 2 }

  it('accepts several processes on Node.js and Deno, and one everywhere', () => {
    checkNodes(two, node, 'linux')
    checkNodes(two, DENO, 'linux')
    checkNodes(one, BUN, 'win32')
    checkNodes(one, DENO, 'darwin')
  })

  it('refuses all others and says what to do', () => {
    const message = 'Cannot use MERIDIAN_NODES on Bun: unset it, or use Node.js'
    assert.throws(() => checkNodes(two, BUN, 'linux'), { message })
  })

  it('refuses several where they cannot share a port', () => {
    const platforms = { win32: 'Windows', darwin: 'macOS' } as const
    for (const platform of ['win32', 'darwin'] as const) {
      const name = platforms[platform]
      const message = `Cannot use MERIDIAN_NODES on ${name}: unset it, or use Linux`
      for (const versions of [node, DENO]) {
        assert.throws(() => checkNodes(two, versions, platform), { message })
      }
    }
  })
})

describe('nameRuntime', () => {
  it('recognises Deno and Bun, which also report a version of Node.js', () => {
    assert.deepEqual([{ node: '24.0.0' }, BUN, DENO].map(nameRuntime), ['node', 'bun', 'deno'])
  })
})
