import { Ajv, type ErrorObject, type Format, type Options, type ValidateFunction } from 'ajv'

/** Returns the errors of a value, with the schema and the value of each; empty if the value is valid. */
export type Validate = (value: unknown) => readonly ErrorObject[]

/**
 * Returns a function that makes validators of schemas. The first value compiles a validator without texts of
 * errors. The first invalid value compiles one with texts, which takes twice as long: a tenth of a second for
 * the configuration. Schemas are not checked here; tests do so. `formats`: formats by their names.
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
