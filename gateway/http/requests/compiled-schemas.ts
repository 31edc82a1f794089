import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import fastJsonStringify from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'

type Check = ReturnType<NonNullable<FastifyInstance['validatorCompiler']>>
type Write = (value: unknown) => string

/** Options of ajv. All faults are reported, not only the first. */
const options = {
  // `verbose` adds the schema to each fault.
  allErrors: true,
  useDefaults: true,
  strict: false,
  verbose: true,
  // Optimization would double the time to compile a schema.
  code: { optimize: false },
} as const

/**
 * Adds the formats of ajv-formats. Replaces its `uri`, which accepts any number as port, by a format that
 * requires a valid URL.
 */
const withFormats = (ajv: Ajv): Ajv =>
  addFormats.default(ajv).addFormat('uri', (text: string) => URL.canParse(text))

/**
 * Validators and serializers of route schemas. Each of them is compiled at its first use or by {@link all},
 * and shared by all sites.
 */
export class CompiledSchemas {
  readonly #made = new Map<string, Check | Write>()
  readonly #rest: (() => unknown)[] = []
  readonly #ajv = {
    body: withFormats(new Ajv(options)),
    text: withFormats(new Ajv({ ...options, coerceTypes: 'array' })),
  }

  /**
   * Returns the validator of a schema. `text` converts strings to the type of the schema; `body` does not.
   */
  check(kind: 'body' | 'text', schema: object): Check {
    return this.#once(`${kind} ${JSON.stringify(schema)}`, () => {
      const made = this.#later((): ValidateFunction => this.#ajv[kind].compile(schema))
      const check: Check = (value) => {
        const isValid = made()(value)
        check.errors = made().errors as NonNullable<Check['errors']>
        return isValid
      }
      return check
    })
  }

  /** Returns the serializer of a schema, which omits unknown fields. */
  writer(schema: object): Write {
    return this.#once(`write ${JSON.stringify(schema)}`, () => {
      const made = this.#later((): Write => fastJsonStringify(schema))
      return (value: unknown) => made()(value)
    })
  }

  /** Compiles the remaining schemas one by one, between other work. Rejects if a schema is invalid. */
  async all(): Promise<void> {
    for (let make = this.#rest.shift(); make; make = this.#rest.shift()) {
      make()
      await new Promise(setImmediate)
    }
  }

  /** Stops the compilation by {@link all}. */
  stop(): void {
    this.#rest.length = 0
  }

  #once<T extends Check | Write>(name: string, make: () => T): T {
    const known = this.#made.get(name) as T | undefined
    if (known) return known
    const made = make()
    this.#made.set(name, made)
    return made
  }

  #later<T>(make: () => T): () => T {
    let made: T | undefined
    const get = () => {
      made ??= make()
      return made
    }
    this.#rest.push(get)
    return get
  }
}
