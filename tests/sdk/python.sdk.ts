import { after, before, describe, it } from 'node:test'
import { type ClientService, runInClient, startClientService } from './parts/client-service.ts'

describe('the Python client', () => {
  let service: ClientService

  before(async () => {
    service = await startClientService()
  })
  after(() => service.stop())

  it('builds, installs and passes its tests', async () => {
    await runInClient('python', ['sh', 'test.sh'], service.environment)
  })
})
