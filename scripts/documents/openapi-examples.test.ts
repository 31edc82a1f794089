import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { examplesFile } from '../../gateway/http/requests/openapi-examples.ts'

interface Media {
  readonly schema?: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

const document: OpenApi = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
)

const valuesOf = ({ example, examples = {} }: Media): readonly unknown[] =>
  example === undefined ? Object.values(examples).map(({ value }) => value) : [example]

/** Examples of an operation, each with its schema and its place: `request` or the status. */
const examplesOf = ({ operationId, requestBody = {}, responses }: Operation) =>
  Object.entries({ ...responses, request: requestBody }).flatMap(([part, { content = {} }]) =>
    Object.values(content).flatMap((media) =>
      valuesOf(media).map((value) => ({
        place: `${operationId} ${part}`,
        value,
        schema: media.schema ?? {},
      })),
    ),
  )

/** All examples of the document. */
const examples = Object.values(document.paths).flatMap((methods) =>
  Object.values(methods).flatMap(examplesOf),
)

/** Returns a function that compares a value with a schema of the document, and returns the faults. */
const checker = ({ components }: OpenApi) => {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
  // Added once: as a part of each schema, the components would be checked and compiled again for each.
  ajv.addSchema({ $id: 'api', components })
  const checks = new Map<string, ValidateFunction>()
  return (schema: object, value: unknown): readonly string[] => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
    const check = checks.get(text) ?? ajv.compile(JSON.parse(text))
    checks.set(text, check)
    return check(value) ? [] : (check.errors ?? []).map((fault) => `${fault.instancePath} ${fault.message}`)
  }
}

describe('the recorded examples', () => {
  it('have the form of their schemas', () => {
    const faultsOf = checker(document)
    expect(examples.length).toBeGreaterThan(400)
    const faults = examples.flatMap(({ place, schema, value }) =>
      faultsOf(schema, value).map((fault) => `${place}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  it('are rejected if a field has another type', () => {
    const { schema, value } = examples.find(({ place }) => place === 'get_call_record 200')!
    expect(checker(document)(schema, { ...(value as object), duration_ms: 'long' })).toEqual([
      expect.stringMatching(/^\/duration_ms must be /),
    ])
  })

  it('have no generated secret', () => {
    const words = readFileSync(examplesFile, 'utf8').match(/[\w-]{20,}/g) ?? []
    const isRandom = (word: string) => /[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word)
    const known = ['eyJhbGciOiJFZERTQSJ9', 'eyJzdWIiOiJleGFtcGxlIn0', 'MTc3MjQ0MzgwMDAwMA']
    expect(words.filter((word) => isRandom(word) && !known.includes(word))).toEqual([])
  })
})
