import type { DBAdapter, Where } from 'better-auth'
import type { BetterAuthOptions } from 'better-auth/minimal'
import { normaliseEmail } from '../../parts/email-address.ts'

/** RFC 2606, section 2: nobody has an address there. */
const DOMAIN = '@stand-in.invalid'

/**
 * Returns the address that better-auth reads in place of `email`. Its own pattern for addresses cannot be replaced,
 * and refuses some that we accept, such as `a&b@shop.example`. Rows, mails and answers have the addresses.
 */
export function toStandIn(email: string): string {
  return `${Buffer.from(normaliseEmail(email)).toString('hex')}${DOMAIN}`
}

/** The address of a stand-in; any other text stays as it is. */
export function fromStandIn(text: string): string {
  return text.endsWith(DOMAIN) ? Buffer.from(text.slice(0, -DOMAIN.length), 'hex').toString() : text
}

/** Finds users by their addresses where better-auth asks for stand-ins. */
export function findByAddress(adapter: DBAdapter): DBAdapter {
  const toAddress = (part: Where) =>
    part.field === 'email' ? { ...part, value: fromStandIn(String(part.value)) } : part
  return {
    ...adapter,
    findOne: (args) => adapter.findOne({ ...args, where: args.where.map(toAddress) }),
  }
}

/** Makes the answer for an address that is taken, which has the fields of that for a new user, in the same order. */
export const showAddress: NonNullable<
  NonNullable<BetterAuthOptions['emailAndPassword']>['customSyntheticUser']
> = ({ coreFields, additionalFields, id }) => ({
  ...coreFields,
  email: fromStandIn(coreFields.email),
  ...additionalFields,
  id,
})
