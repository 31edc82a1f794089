import type { ErrorObject, Options } from 'ajv'
import { didYouMean } from '../common/spelling.ts'
import { type Validate, validators } from '../common/validators.ts'
import type { Keys } from './source.ts'

/** Violation of a schema. */
export interface SchemaFault {
  readonly kind: 'missing' | 'unknown' | 'invalid'
  /** Position of the value; for a missing or unknown property, of the object. */
  readonly at: Keys
  /** Name of the missing or unknown property; for an invalid value, the expected value. */
  readonly text: string
  /** Sentence that suggests a similar property, with a leading blank; only for an unknown property. */
  readonly suggestion?: string
}

/** Creates a check of values by the schemas of constants. Each schema is compiled once, at its first use. */
export const schemaCheck = <T extends object>(schemaOf: (of: T) => object, options: Options = {}) => {
  const make = validators({ strict: true, ...options })
  const made = new WeakMap<T, Validate>()
  const validatorOf = (of: T): Validate => {
    const known = made.get(of)
    if (known) return known
    const validate = make(schemaOf(of))
    made.set(of, validate)
    return validate
  }
  return (of: T, value: unknown): readonly SchemaFault[] => validatorOf(of)(value).flatMap(faultOf)
}

const faultOf = ({
  keyword,
  params,
  schemaPath,
  instancePath,
  parentSchema,
  message,
}: ErrorObject): readonly SchemaFault[] => {
  // Skips the branches of an alternative; the error of the alternative itself has the useful description.
  if (/\/anyOf\/\d+\//.test(schemaPath)) return []
  const at = keysOf(instancePath)
  if (keyword === 'required') return [{ kind: 'missing', at, text: String(params.missingProperty) }]
  if (keyword === 'additionalProperties') {
    const text = String(params.additionalProperty)
    const { properties = {} } = (parentSchema ?? {}) as { readonly properties?: object }
    return [{ kind: 'unknown', at, text, suggestion: didYouMean(text, Object.keys(properties)) }]
  }
  const wanted = (parentSchema as { title?: string } | undefined)?.title
  return [{ kind: 'invalid', at, text: wanted ?? message ?? 'another value' }]
}

/** Returns the keys of a JSON pointer (RFC 6901). */
export const keysOf = (pointer: string): Keys => pointer.split('/').slice(1).map(keyOf)

const keyOf = (part: string): string | number => {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(name) ? Number(name) : name
}
