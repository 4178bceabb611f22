import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { namedSchemas } from '../../lib/openapi/schemas.ts'
import { runAtOnce } from '../support/run-at-once.ts'

const ajv = new Ajv2020({ strictTypes: false, allErrors: true })
addFormats.default(ajv)

const $defs = runAtOnce(namedSchemas())

/** Validates a value against a schema of the OpenAPI document with ajv. Returns what is wrong. */
export function findErrors(schema: object): (value: unknown) => string[] {
  const validate = ajv.compile(withDefinitions({ ...schema, $defs }))
  return (value) => {
    return validate(value) ? [] : (validate.errors ?? []).map((error) => ajv.errorsText([error]))
  }
}

/** JSON Schema keeps its definitions in another place than OpenAPI. */
function withDefinitions(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))
}
