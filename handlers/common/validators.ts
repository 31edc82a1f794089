import { Ajv, type ErrorObject, type Format, type Options, type ValidateFunction } from 'ajv'

/** Returns the errors of a value, with the schema and the value of each; empty if the value is valid. */
export type Validate = (value: unknown) => readonly ErrorObject[]

/**
 * Returns a function that makes validators of schemas. A validator is compiled with the first value. It finds
 * only whether a value is valid; one that describes errors takes twice the time, and is compiled with the
 * first invalid value. Schemas are not checked themselves: tests do so. `formats`: formats by their names.
 */
export const validators = (
  options: Options,
  formats: Readonly<Record<string, Format>> = {},
): ((schema: object) => Validate) => {
  const compilerOf = (more: Options) => {
    let ajv: Ajv | undefined
    return (schema: object): ValidateFunction => {
      ajv ??= new Ajv({
        allErrors: true,
        allowUnionTypes: true,
        validateSchema: false,
        // Optimization would double the time of the compilation.
        code: { optimize: false },
        formats,
        ...options,
        ...more,
      })
      return ajv.compile(schema)
    }
  }
  const quick = compilerOf({ messages: false })
  const full = compilerOf({ verbose: true })
  return (schema) => {
    let isValid: ValidateFunction | undefined
    let describes: ValidateFunction | undefined
    return (value) => {
      isValid ??= quick(schema)
      if (isValid(value)) return []
      describes ??= full(schema)
      return describes(value) ? [] : (describes.errors ?? [])
    }
  }
}
