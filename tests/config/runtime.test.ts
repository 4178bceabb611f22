import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkRuntime, nameRuntime } from '../../lib/runtime.ts'

/** As the runtimes report themselves. */
const BUN = { node: '26.3.0', bun: '1.4.5' }
const DENO = { node: '26.3.0', deno: '2.9.6' }

describe('checkRuntime', () => {
  it('takes the runtime of these tests and newer ones', () => {
    checkRuntime(process.versions)
    for (const node of ['22.0.0', '24.1.0', '100.0.0']) checkRuntime({ node })
    for (const bun of ['1.4.5', '1.10.0', '2.0.0']) checkRuntime({ ...BUN, bun })
    for (const deno of ['2.9.6', '2.10.0', '3.0.0']) checkRuntime({ ...DENO, deno })
  })

  it('refuses older ones and says what to do', () => {
    for (const node of ['20.20.0', '21.9.9', '9.0.0', '']) {
      assert.throws(() => checkRuntime({ node }), /^Error: Cannot run on Node\.js .* npm ci /)
    }
    assert.throws(() => checkRuntime({}), /version 22\.0 or newer/)
    assert.throws(() => checkRuntime({ ...BUN, bun: '1.3.9' }), /on Bun 1\.3\.9: version 1\.4 or/)
    assert.throws(() => checkRuntime({ ...DENO, deno: '1.46.3' }), /on Deno 1\.46\.3: version 2\.9/)
  })
})

describe('nameRuntime', () => {
  it('knows those that call themselves Node.js as well', () => {
    assert.deepEqual([{ node: '24.0.0' }, BUN, DENO].map(nameRuntime), ['node', 'bun', 'deno'])
  })
})
