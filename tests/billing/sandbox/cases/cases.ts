import type { Case } from './case.ts'
import { changes } from './changes.ts'
import { ends } from './ends.ts'
import { other } from './other.ts'
import { pending } from './pending.ts'
import { usage } from './usage.ts'

/** Everything that the product and the double believe about Stripe, and that only Stripe can tell. */
export const cases: readonly Case[] = [...ends, ...pending, ...changes, ...usage, ...other]
