import { readFileSync } from 'node:fs'

/** Examples of one operation of the REST API, from requests that a gateway has answered. */
export interface OperationExamples {
  /** Values of the parameters of the path and the query, by name. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Bodies of requests by name; an operation with one example has the name `request`. */
  readonly requests?: Readonly<Record<string, unknown>>
  /** Bodies of responses by status; null for a response without JSON. */
  readonly responses: Readonly<Record<string, unknown>>
}

/** Examples by `operationId`. */
export type ApiExamples = Readonly<Record<string, OperationExamples>>

/** File with the examples, which `test/scenarios/api-tour.test.ts` records. */
export const examplesFile = new URL('./openapi-examples.json', import.meta.url)

interface Media {
  example?: unknown
  examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Content {
  readonly content?: Readonly<Record<string, Media>>
}

interface Parameter {
  readonly name: string
  readonly schema?: { readonly type?: string }
  example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

/**
 * Adds the recorded examples to the operations of an OpenAPI document: values of parameters, bodies of
 * requests, and bodies of responses by status. Changes the document in place.
 */
export const addExamples = (document: object): void => {
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> }
  const recorded = JSON.parse(readFileSync(examplesFile, 'utf8')) as ApiExamples
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const examples = recorded[operation.operationId]
    if (examples) addTo(operation, examples)
  }
}

const addTo = (operation: Operation, { parameters, requests, responses }: OperationExamples): void => {
  for (const parameter of operation.parameters ?? []) {
    const value = parameters?.[parameter.name]
    if (value !== undefined) parameter.example = typed(value, parameter)
  }
  for (const media of Object.values(operation.requestBody?.content ?? {})) addBodies(media, requests)
  for (const [status, body] of Object.entries(responses))
    if (body !== null) addBodies(operation.responses[status]?.content?.['application/json'], { body })
}

/** Returns the value of a parameter in the type of its schema. */
const typed = (value: string, { schema }: Parameter): unknown => {
  if (schema?.type === 'integer') return Number(value)
  return schema?.type === 'boolean' ? value === 'true' : value
}

const addBodies = (media: Media | undefined, bodies: OperationExamples['requests'] = {}): void => {
  const [first, ...others] = Object.entries(bodies)
  if (!media || !first) return
  if (others.length === 0) media.example = first[1]
  else media.examples = Object.fromEntries(Object.entries(bodies).map(([name, value]) => [name, { value }]))
}
