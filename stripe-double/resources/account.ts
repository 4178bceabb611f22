import { Nothing, type Route, route } from '../http/route.ts'

export const accountRoutes: readonly Route[] = [
  route('GET /v1/account', Nothing, ({ world }) => ({ id: world.account, object: 'account' })),
]
