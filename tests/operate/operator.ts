import { signInNewUser } from '../dashboard/pages.ts'
import type { TestApp } from '../support/helpers.ts'

export const OPERATOR = 'olga@example.com'

/** Signs up an operator. Returns the cookie of the session. */
export async function signInOperator(app: TestApp): Promise<string> {
  const cookie = await signInNewUser(app, OPERATOR)
  app.services.db.$client
    .prepare("UPDATE users SET role = 'operator' WHERE email = ?")
    .run(OPERATOR)
  return cookie
}
