import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Schema } from './schema-values.ts'

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

/** Operation of the document. */
export interface Operation {
  readonly method: string
  /** With `{names}`. */
  readonly path: string
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly 'x-scalar-ignore'?: boolean
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

/** An OpenAPI document, as far as tests read it. */
export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Every operation of the document. Schemas of request bodies are resolved. */
export const operationsOf = ({ paths, components }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...operation }]) => ({
      ...operation,
      ...(requestBody && { requestBody: { content: resolved(requestBody.content, components.schemas) } }),
      method: method.toUpperCase(),
      path,
    })),
  )

const resolved = (content: Content, schemas: OpenApi['components']['schemas']): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema = {} }]) => {
      const { $ref } = schema as { readonly $ref?: string }
      const named = $ref === undefined ? schema : schemas[$ref.slice('#/components/schemas/'.length)]
      return [type, { schema: named ?? {} }]
    }),
  )

/** The schema of an operation's body, and its type; undefined where it takes none. */
export const bodyOf = ({ requestBody }: Operation): { type: string; schema: Schema } | undefined => {
  const [first] = Object.entries(requestBody?.content ?? {})
  return first && { type: first[0], schema: first[1].schema ?? {} }
}

/** Response of `inject`. */
export interface Answer {
  readonly statusCode: number
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** Returns the fault of a response by the document; undefined for a correct response. */
export type Judge = (operation: Operation, answer: Answer) => string | undefined

/** Makes it. */
export const judgeBy = ({ components }: OpenApi): Judge => {
  const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }))
  // Once for all operations, most of which have the same errors.
  ajv.addSchema({ $id: 'document', components })
  const known = new Map<string, ReturnType<typeof ajv.compile>>()
  const check = (schema: Schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')
    const made = known.get(text) ?? ajv.compile(JSON.parse(text))
    known.set(text, made)
    return made
  }
  return ({ responses }, { statusCode, body, headers }) => {
    if (statusCode >= 500) return `it failed with ${statusCode}`
    const response = responses[statusCode]
    if (!response) return `it answers ${statusCode}, of which its schema says nothing`
    const type = String(headers['content-type'] ?? '').split(';', 1)[0] as string
    const content = response.content?.[type]
    if (!content?.schema)
      return body === '' || response.content?.['*/*']
        ? undefined
        : `it has a body of ${type}, which is not described`
    if (type !== 'application/json') return undefined
    const validate = check(content.schema)
    return validate(JSON.parse(body))
      ? undefined
      : `its body is not as described: ${ajv.errorsText(validate.errors)}`
  }
}
