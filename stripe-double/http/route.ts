import * as v from 'valibot'
import type { World } from '../world.ts'
import type { Form } from './form.ts'
import { readParams } from './params.ts'

/** One operation of the API. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** Throws for invalid parameters, before the call begins. The returned function runs it. */
  readonly begin: (form: Form, ids: Ids) => (world: World) => object
}

/** The ids in the path: `:id` and `:nested`. */
interface Ids {
  readonly id: string
  readonly nested: string
}

interface Call<Params> extends Ids {
  readonly world: World
  readonly params: Params
}

/** `target` is written as in Stripe's reference: `POST /v1/customers/:id`. */
export function route<Schema extends v.GenericSchema>(
  target: `${Route['method']} /v${1 | 2}/${string}`,
  schema: Schema,
  handle: (call: Call<v.InferOutput<Schema>>) => object,
): Route {
  const space = target.indexOf(' ')
  return {
    // safe: `target` begins with a method and a space, by its type
    method: target.slice(0, space) as Route['method'],
    path: target.slice(space + 1),
    begin: (form, ids) => {
      const params = readParams(schema, form)
      return (world) => handle({ world, params, ...ids })
    },
  }
}

export const Nothing = v.strictObject({})
