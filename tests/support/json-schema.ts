import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { namedSchemas } from '../lib/openapi-schemas.ts'

const ajv = new Ajv2020({ strictTypes: false, allErrors: true })
addFormats.default(ajv)

const $defs = namedSchemas()

/**
 * Tells what is wrong with a value by a schema of the OpenAPI document, in the eyes of another
 * validator than the service's own.
 */
export function findErrors(schema: object): (value: unknown) => string[] {
  const validate = ajv.compile(withDefinitions({ ...schema, $defs }))
  return (value) => {
    return validate(value) ? [] : (validate.errors ?? []).map((error) => ajv.errorsText([error]))
  }
}

/** JSON Schema has its definitions elsewhere than OpenAPI. */
function withDefinitions(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))
}
