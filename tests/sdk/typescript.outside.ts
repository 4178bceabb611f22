import { globSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { runInClient, withClientService } from './parts/client-service.ts'

// run: alone

const FOLDER = 'typescript'
const TESTS = globSync('test/*.test.ts', { cwd: `sdk/${FOLDER}` })

describe('the TypeScript client', { timeout: 600_000 }, () => {
  const environment = withClientService()
  before(() => runInClient(FOLDER, ['npm', 'ci', '--silent']))

  it('has no type errors', async () => {
    await runInClient(FOLDER, ['npm', 'run', '--silent', 'check'])
  })

  for (const file of TESTS) {
    it(`passes ${file}`, async () => {
      await runInClient(FOLDER, [process.execPath, '--test', file], environment())
    })
  }
})
