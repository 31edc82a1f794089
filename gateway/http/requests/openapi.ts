import fastifySwagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import { type ApiFamily, familyOf } from './api-family.ts'
import { type CompressedText, compressed, sendCompressed } from './compressed-text.ts'
import { addExamples } from './openapi-examples.ts'
import { nameSchemas } from './openapi-names.ts'
import { errorStatusesOf, statusMeanings } from './openapi-statuses.ts'
import { tags } from './openapi-tags.ts'
import { addTexts } from './openapi-texts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Schema of the body for the OpenAPI document, if it says more than the one that checks requests. */
    readonly documentedBody?: Readonly<Record<string, unknown>>
  }
}

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

const errorList = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      description: 'Faults of the request: all of them, not only the first.',
      items: { type: 'object', required: Object.keys(properties), properties },
    },
  },
})

/** Schemas of error bodies, by API family. */
const errorSchemas: Readonly<
  Record<ApiFamily, { readonly $id: string; readonly [keyword: string]: unknown }>
> = {
  fabric: {
    $id: 'Errors',
    examples: [
      {
        errors: [
          {
            type: 'validation_error',
            code: 'missing_required_parameter',
            message: 'password is missing.',
            attribute: 'password',
            url: 'https://gw.example.com/docs/errors/missing_required_parameter',
          },
        ],
      },
    ],
    ...errorList({
      type: { ...text, description: 'Kind of the error, such as `validation_error`.' },
      code: { ...text, description: 'Code of the error; `url` describes it.' },
      message: { ...text, description: 'Text for people: the fault and the expected value.' },
      attribute: { ...textOrNull, description: 'Field that is wrong; null if the fault is not in a field.' },
      url: { ...text, description: 'URL of the page about the code, on this gateway.' },
    }),
  },
  relay: {
    $id: 'RelayErrors',
    ...errorList({
      detail: { ...text, description: 'Text for people: the fault and the expected value.' },
      status: { ...text, description: 'HTTP status.' },
      title: { ...text, description: 'Meaning of the code.' },
      code: { ...text, description: 'Code of the error.' },
    }),
  },
  compat: {
    $id: 'CompatError',
    type: 'object',
    required: ['code', 'message', 'more_info', 'status'],
    properties: {
      code: { type: 'integer', description: 'Number of the error.' },
      message: { ...text, description: 'Text for people: the fault and the expected value.' },
      more_info: { ...text, description: 'URL of the page about the error, on this gateway.' },
      status: { type: 'integer', description: 'HTTP status.' },
    },
  },
}

/** Header of requests that must be carried out only once. */
const idempotencyHeader = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Key of the request. For a day, a repeated request with the same key is not carried out again, and ' +
        'receives the first response.',
    },
  },
}

/** Returns the schema of the parameters that the path of a route has. Several routes share one schema. */
const paramsOf = ({ url, schema }: RouteOptions): object | undefined => {
  const given = schema?.params as { readonly properties?: object } | undefined
  if (!given?.properties) return given
  const inPath = Object.entries(given.properties).filter(([name]) => url.split('/').includes(`:${name}`))
  return { ...given, properties: Object.fromEntries(inPath) }
}

/**
 * Returns the schema of a route with its error responses, in the format of the route's API family. Used only
 * for the OpenAPI document.
 */
const completed = (route: RouteOptions): FastifySchema => {
  const schema = route.schema as FastifySchema
  const { $id } = errorSchemas[familyOf(route.url)]
  const params = paramsOf(route)
  const errors = errorStatusesOf({ ...route, method: String(route.method), schema }).map((status) => [
    status,
    { description: statusMeanings[status], $ref: `${$id}#` },
  ])
  const body = route.config?.documentedBody ?? schema.body
  return {
    ...schema,
    ...(body !== undefined && { body }),
    security: schema.security ?? [],
    ...(params && { params }),
    response: { ...Object.fromEntries(errors), ...(schema.response as object) },
    ...(route.method === 'POST' && schema.security && { headers: idempotencyHeader }),
  }
}

const info = {
  title: 'Trunkline',
  version: '0.1.0',
  description: 'Subscribers, addresses, resources, tokens and calls of a Trunkline gateway.',
  // The owner has chosen no licence yet. SPDX names such terms by a `LicenseRef-`.
  license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
}

const servers = [{ url: '/', description: 'The gateway that serves this document.' }]

const securitySchemes = {
  project: {
    type: 'http',
    scheme: 'basic',
    description: 'Id of the project as the user name, one of its API tokens as the password.',
  },
  subscriber: { type: 'http', scheme: 'bearer', description: 'A subscriber access token.' },
} as const

/** Value of `security` for routes with Basic authentication of a project. */
export const byProject = [{ project: [] }] as const

/** Value of `security` for routes with a subscriber access token. */
export const bySubscriber = [{ subscriber: [] }] as const

/**
 * Generates the OpenAPI 3.1 document, and serves it at `/openapi.json` without authentication. The document
 * has all routes with tags that are added later, with their error responses.
 */
export const useOpenApi = async (site: FastifyInstance): Promise<void> => {
  for (const schema of Object.values(errorSchemas)) site.addSchema(schema)
  await site.register(fastifySwagger, {
    openapi: { openapi: '3.1.0', info, servers, tags, components: { securitySchemes } },
    hideUntagged: true,
    transform: ({ route, schema, url }) => ({ url, schema: schema?.tags ? completed(route) : schema }),
    transformObject: (result) => {
      const document = 'openapiObject' in result ? result.openapiObject : result.swaggerObject
      // Operations share the schemas of their routes, which stay as they are.
      const copy = structuredClone(document)
      addTexts(copy)
      nameSchemas(copy)
      addExamples(copy)
      return copy
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `def-${index}`),
    },
  })
  let document: Promise<CompressedText> | undefined
  site.get('/openapi.json', async (request, reply) => {
    // The document is large and public, so it is serialized and compressed once.
    document ??= compressed(JSON.stringify(site.swagger()))
    reply.headers({
      'access-control-allow-origin': '*',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    return sendCompressed(request, reply.type('application/json; charset=utf-8'), await document)
  })
}
