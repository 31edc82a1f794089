import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import fastify, { type FastifyInstance } from 'fastify'

type Check = ReturnType<NonNullable<FastifyInstance['validatorCompiler']>>
type Write = (value: unknown) => string

/** Every fault is found, not only the first; nothing is left out. */
const options = {
  // `verbose` gives faults the schema that they are of.
  allErrors: true,
  useDefaults: true,
  strict: false,
  verbose: true,
  // Half of the work would be to make the code shorter.
  code: { optimize: false },
} as const

/** The usual formats; a URI is what can be asked for: that of ajv-formats has any number for a port. */
const withFormats = (ajv: Ajv): Ajv =>
  addFormats.default(ajv).addFormat('uri', (text: string) => URL.canParse(text))

/**
 * Validators and serializers of route schemas. Each is compiled on first use or by {@link all}, and shared by
 * all sites.
 */
export class CompiledSchemas {
  readonly #made = new Map<string, Check | Write>()
  readonly #rest: (() => unknown)[] = []
  readonly #ajv = {
    body: withFormats(new Ajv(options)),
    text: withFormats(new Ajv({ ...options, coerceTypes: 'array' })),
  }

  /** Checks a value by a schema: `body` takes it as it is, `text` reads texts as what the schema says. */
  check(kind: 'body' | 'text', schema: object): Check {
    return this.#once(`${kind} ${JSON.stringify(schema)}`, () => {
      const made = this.#later((): ValidateFunction => this.#ajv[kind].compile(schema))
      const check: Check = (value) => {
        const good = made()(value)
        check.errors = made().errors as NonNullable<Check['errors']>
        return good
      }
      return check
    })
  }

  /** Writes JSON by a schema: what it does not name is left out. */
  writer(schema: unknown): Write {
    return this.#once(`write ${JSON.stringify(schema)}`, () => {
      const made = this.#later(() => makeWriter(schema))
      return (value: unknown) => made()(value)
    })
  }

  /**
   * Makes what is left, one by one, so that other work goes on meanwhile. Rejects with the fault of a schema.
   */
  async all(): Promise<void> {
    for (let make = this.#rest.shift(); make; make = this.#rest.shift()) {
      make()
      await new Promise(setImmediate)
    }
  }

  /** Leaves it at what was made. */
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

/** Fastify shows its own way to write by a schema on a site that has needed it. */
const fastifysWriter = async (): Promise<(schema: unknown) => Write> => {
  const site = fastify()
  site.get('/', { schema: { response: { 200: {} } } }, async () => ({}))
  await site.ready()
  const { serializerCompiler } = site
  await site.close()
  if (!serializerCompiler) throw new Error('Fastify has no serializer.')
  return (schema) => serializerCompiler({ schema, method: '', url: '' })
}

const makeWriter = await fastifysWriter()
