import { fieldTexts } from './openapi-field-texts.ts'
import { mainPathOf, operationText } from './openapi-operation-texts.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts of responses without one of their own, by status. */
const statusTexts: Readonly<Record<string, string>> = {
  200: 'The request succeeded.',
  201: 'The object was created.',
  204: 'The request succeeded; the response has no body.',
  302: 'The content is at the URL in `location`.',
}

/**
 * Adds the texts that routes leave out to an OpenAPI document: descriptions of operations, parameters, fields
 * and responses. Changes the document in place.
 */
export const addTexts = (document: object): void => {
  const { paths = {} } = document as { paths?: Json }
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item as Json))
      if (isObject(operation)) describeOperation(operation, method, path)
}

const describeOperation = (operation: Json, method: string, path: string): void => {
  operation.description ??= operationText(String(operation.operationId), { method, path })
  // The reference shows the main path only. Generators of clients still know both.
  if (mainPathOf(path) !== undefined) operation['x-scalar-ignore'] = true
  for (const parameter of (operation.parameters ?? []) as Json[])
    parameter.description ??= fieldTexts[String(parameter.name)]
  describeFields((operation.requestBody as Json | undefined)?.content)
  for (const [status, response] of Object.entries(operation.responses as Json)) {
    const one = response as Json
    if (one.description === 'Default Response') one.description = statusTexts[status] ?? 'Response.'
    describeFields(one.content)
  }
}

/** Describes the fields of every schema in a part of the document. */
const describeFields = (part: unknown): void => {
  if (Array.isArray(part)) part.forEach(describeFields)
  if (!isObject(part)) return
  for (const [key, value] of Object.entries(part)) {
    if (key === 'properties' && isObject(value))
      for (const [name, schema] of Object.entries(value))
        if (isObject(schema) && !('$ref' in schema)) schema.description ??= fieldTexts[name]
    describeFields(value)
  }
}
