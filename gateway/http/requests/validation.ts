import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { jsonDepth, maxJsonDepth } from '../../core/json.ts'
import type { CompiledSchemas } from './compiled-schemas.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiled schemas of the routes. */
    readonly compiled: CompiledSchemas
  }
}

/** Maximum bytes of a body on a route that needs no authentication, such as sign-in. */
export const maxAnonymousBody = 8 << 10

type Compilers = NonNullable<FastifyServerOptions['schemaController']>
type Compiled = { readonly schema: object; readonly httpPart?: string }

/**
 * Returns the option of a site that makes its compilers. Compilers that are set later do not apply in a scope
 * that gets further schemas.
 */
export const schemaCompilers = (compiled: CompiledSchemas): Compilers => {
  const check = ({ schema, httpPart }: Compiled) =>
    compiled.check(httpPart === 'body' ? 'body' : 'text', schema)
  const writer = ({ schema }: Compiled) => compiled.writer(schema)
  // Fastify's type has the arguments of its own compilers only.
  return {
    compilersFactory: { buildValidator: () => check, buildSerializer: () => writer },
  } as unknown as Compilers
}

/**
 * Sets the parsing and validation of requests. Bodies are JSON, nested at most 100 levels deep, without keys
 * that reach prototypes. All faults are reported. Values of a body are never removed or converted. Values of
 * paths and queries are strings, and are converted to the type of the schema.
 */
export const useValidation = (site: FastifyInstance, compiled: CompiledSchemas): void => {
  site.decorate('compiled', compiled)
  site.removeAllContentTypeParsers()
  const parse = site.getDefaultJsonParser('error', 'error')
  site.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    // Some clients send the content type of JSON without a body, for example with DELETE.
    if (body === '') return done(null, undefined)
    if (Buffer.byteLength(body) > maxBodyOf(request)) return done(tooLarge())
    if (jsonDepth(body) > maxJsonDepth)
      return done(
        new TrunklineError('bad_request', `The body is nested more than ${maxJsonDepth} levels deep.`),
      )
    return parse(request, body, done)
  })
  // Runs after the authentication of the route. A body of unknown length is checked while it is read.
  site.addHook('preParsing', async (request) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBodyOf(request)) throw tooLarge()
  })
}

/**
 * Returns the maximum bytes of a body. The limit is small for requests without credentials, because parsing
 * blocks all other work.
 */
const maxBodyOf = ({ projectId, bearer, routeOptions }: FastifyRequest): number =>
  projectId !== '' || bearer ? routeOptions.bodyLimit : maxAnonymousBody

const tooLarge = (): TrunklineError =>
  new TrunklineError(
    'body_too_large',
    `The body of a request without credentials is limited to ${maxAnonymousBody} bytes.`,
  )
