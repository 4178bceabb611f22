import { usualFields } from './usual-fields.ts'
import type { World } from './world.ts'

/** Some of the fields of an object, and of the objects in it. */
type Part<Value> = Value extends readonly unknown[] | null | undefined
  ? Value
  : Value extends object
    ? { readonly [Field in keyof Value]?: Part<Value[Field]> }
    : Value

interface Identified {
  readonly id: string
  readonly object: string
}

/** An object of Stripe, with the fields that Stripe always gives and those that the double supports. */
export function newObject<Row extends Identified>(
  world: World,
  fields: Part<Row> & Pick<Row, keyof Identified>,
): Row {
  const now = world.now()
  const usual = { created: now, livemode: false, ...usualFields(fields.object, now) }
  // safe: nobody reads the other fields
  return { ...usual, ...fields } as unknown as Row
}
