import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Code, catalogue, codeOf, TrunklineError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** One fault, in the shape in which the API reports them. */
export interface ApiError {
  readonly type: string
  readonly code: string
  readonly message: string
  /** The field at fault; null when it is none of one field. */
  readonly attribute: string | null
  /** Page that explains the code. */
  readonly url: string
}

/** The body of every answer that is an error. */
export const errorBody = (code: Code, message: string, attribute: string | null = null) => ({
  errors: [
    { type: typeOf(catalogue[code].http), code, message, attribute, url: `docs/errors.md#${code}` },
  ] as ApiError[],
})

/** Gives an instance the API's error bodies, for errors of ours, of the schemas, and unforeseen ones. */
export const useErrorBodies = (
  site: FastifyInstance,
  log: Pick<Log, 'error'>,
  metrics: Pick<Metrics, 'rejections'>,
): void => {
  site.setErrorHandler((error: FastifyError | TrunklineError, request, reply) => {
    const { status, code, message, attribute } = describe(error)
    if (code === 'internal') log.error({ request: request.id, err: error }, catalogue.internal.text)
    metrics.rejections.inc({ code })
    if (code === 'unauthorized' && !reply.hasHeader('www-authenticate'))
      reply.header('www-authenticate', 'Bearer')
    return reply.code(status).send(errorBody(code, message, attribute))
  })
  site.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) =>
    reply.code(404).send({
      errors: [
        {
          type: 'not_found_error',
          code: 'not_found',
          message: `Nothing answers ${request.method} ${pathOf(request.url)}.`,
          attribute: null,
          url: 'docs/errors.md#not_found',
        },
      ],
    }),
  )
}

/** A URL without its query, which may hold what no log is to show. */
export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

const describe = (error: FastifyError | TrunklineError) => {
  if (error instanceof TrunklineError) {
    const { attribute } = error.facts
    const named = typeof attribute === 'string' ? attribute : null
    return { status: catalogue[error.code].http, code: error.code, message: error.message, attribute: named }
  }
  const fault = error.validation?.[0]
  if (fault) {
    const missing = fault.params.missingProperty ?? fault.params.additionalProperty
    const named =
      fault.instancePath.slice(1).replaceAll('/', '.') || (typeof missing === 'string' ? missing : null)
    return { status: 400, code: 'bad_request' as const, message: error.message, attribute: named }
  }
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500)
    return { status, code: 'bad_request' as const, message: error.message, attribute: null }
  return { status: 500, code: codeOf(error), message: catalogue.internal.text, attribute: null }
}

const types: Readonly<Record<number, string>> = {
  400: 'validation_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  422: 'validation_error',
  429: 'rate_limit_error',
}

const typeOf = (status: number): string => types[status] ?? 'api_error'
