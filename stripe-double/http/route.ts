import * as v from 'valibot'
import type { World } from '../world.ts'
import type { Form } from './form.ts'
import { readParams } from './params.ts'

/** One operation of the API: a row of the table that `app.ts` mounts. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly answer: (world: World, form: Form, ids: Ids) => object
}

/** The names in the path, by their place. */
export interface Ids {
  readonly id: string
  readonly nested: string
}

interface Call<Params> extends Ids {
  readonly world: World
  readonly params: Params
}

/** `target` is as in Stripe's reference: `POST /v1/customers/:id`. */
export function route<Schema extends v.GenericSchema>(
  target: `${Route['method']} /v1/${string}`,
  schema: Schema,
  handle: (call: Call<v.InferOutput<Schema>>) => object,
): Route {
  const [method, path] = splitTarget(target)
  return {
    method,
    path,
    answer: (world, form, ids) => handle({ world, params: readParams(schema, form), ...ids }),
  }
}

export const Nothing = v.strictObject({})

function splitTarget(target: string): [Route['method'], string] {
  const space = target.indexOf(' ')
  // safe: the type of `target` begins with a method and a space
  return [target.slice(0, space) as Route['method'], target.slice(space + 1)]
}
