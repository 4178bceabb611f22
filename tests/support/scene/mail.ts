import { afterEach, beforeEach } from 'node:test'
import type { AppOptions, TestApp } from '../helpers.ts'
import { type MailServer, startMailServer } from '../mail-server.ts'
import { standInFor } from './freshly.ts'
import { freshScene } from './scene.ts'

/**
 * A service that sends mails and the server that receives them, both new for each test of the file or suite.
 * `beforeMail` runs while the service has no mail server yet.
 */
export function freshMailScene(env: AppOptions['env'] = {}, beforeMail?: () => Promise<void>) {
  let current: MailServer | undefined
  const withMail = () => ({ ...env, MERIDIAN_SMTP_URL: current?.url ?? '' })
  beforeEach(async () => {
    current = await startMailServer()
  })
  const app: TestApp =
    beforeMail === undefined
      ? freshScene(() => ({ env: withMail() }))
      : freshScene({ env }, async () => {
          await beforeMail()
          await app.restart(withMail())
        })
  afterEach(() => current?.[Symbol.asyncDispose]())
  return { app, mail: standInFor(() => current) }
}
