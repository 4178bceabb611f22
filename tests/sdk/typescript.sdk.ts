import { globSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { type ClientService, runInClient, startClientService } from './parts/client-service.ts'

const FOLDER = 'typescript'
const TESTS = globSync('test/*.test.ts', { cwd: `sdk/${FOLDER}` })

describe('the TypeScript client', () => {
  let service: ClientService

  before(async () => {
    await runInClient(FOLDER, ['npm', 'ci', '--silent'])
    service = await startClientService()
  })
  after(() => service.stop())

  it('has no type errors', async () => {
    await runInClient(FOLDER, ['npm', 'run', '--silent', 'check'])
  })

  for (const file of TESTS) {
    it(`passes ${file}`, async () => {
      await runInClient(FOLDER, [process.execPath, '--test', file], service.environment)
    })
  }
})
