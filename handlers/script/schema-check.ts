import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import type { Keys } from './source.ts'

/** What is wrong with a value, by its schema. */
export interface SchemaFault {
  readonly kind: 'missing' | 'unknown' | 'invalid'
  /** Where it is: the object, of a property that is missing or that it cannot have. */
  readonly at: Keys
  /** The name of that property; of one that is invalid what is wanted, the schema's title. */
  readonly text: string
}

/** Checks values by the schemas of constants. Each is compiled once, when it is needed first. */
export const schemaCheck = <T extends object>(schemaOf: (of: T) => object, options: Options = {}) => {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true, ...options })
  const compiled = new WeakMap<T, ValidateFunction>()
  const validatorOf = (of: T): ValidateFunction => {
    const known = compiled.get(of)
    if (known) return known
    const made = ajv.compile(schemaOf(of))
    compiled.set(of, made)
    return made
  }
  return (of: T, value: unknown): readonly SchemaFault[] => {
    const validate = validatorOf(of)
    return validate(value) ? [] : (validate.errors ?? []).flatMap(faultOf)
  }
}

const faultOf = ({
  keyword,
  params,
  schemaPath,
  instancePath,
  parentSchema,
  message,
}: ErrorObject): readonly SchemaFault[] => {
  // The branches of an alternative say little; the alternative as a whole says what it wants.
  if (/\/anyOf\/\d+\//.test(schemaPath)) return []
  const at = instancePath.split('/').slice(1).map(keyOf)
  if (keyword === 'required') return [{ kind: 'missing', at, text: String(params.missingProperty) }]
  if (keyword === 'additionalProperties')
    return [{ kind: 'unknown', at, text: String(params.additionalProperty) }]
  const wanted = (parentSchema as { title?: string } | undefined)?.title
  return [{ kind: 'invalid', at, text: wanted ?? message ?? 'another value' }]
}

const keyOf = (part: string): string | number => {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(name) ? Number(name) : name
}
