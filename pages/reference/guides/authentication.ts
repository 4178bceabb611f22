import { SCOPES } from '../../../lib/contract/operation.ts'
import type { Block, GuideFacts } from './block.ts'

export function authenticationGuide({ url }: GuideFacts): Block[] {
  return [
    'Send an API key in the header `X-API-Key`, as a bearer token, or as the user of Basic without a password. You [create keys](/app/keys) in the dashboard; the text of a key is shown once.',
    {
      code: `curl -H 'X-API-Key: YOUR_API_KEY' ${url}/v1/ip/me
curl -H 'Authorization: Bearer YOUR_API_KEY' ${url}/v1/ip/me
curl -u YOUR_API_KEY: ${url}/v1/ip/me`,
    },
    { heading: 'Two types of keys' },
    {
      list: [
        'A secret key, `sk_live_…`, is for servers. It may do everything that you may, or only what its scopes allow.',
        'A publishable key, `pk_live_…`, is for web pages. It may only look up addresses, and only from pages of the origins that you name, such as `https://*.shop.example`.',
      ],
    },
    { heading: 'Scopes' },
    'A secret key without scopes has all of them. Each operation names the scope that it needs:',
    { list: SCOPES.map((scope) => `\`${scope}\``) },
    { heading: 'Sessions' },
    'Programs with a user in front of them, such as a dashboard of your own, can sign in at `POST /api/auth/sign-in/email` and send the token of the answer as a bearer token. A session has every scope. If a request has both a key and a session, the key counts.',
    { heading: 'From web pages' },
    'Any page may read the public operations and all errors. Pages of the origins of a publishable key may read look-ups. All other operations answer only pages of this service, and those of the origins in the setting `MERIDIAN_CORS_ORIGINS`.',
  ]
}
