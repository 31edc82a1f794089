import type { FastifyInstance } from 'fastify'
import { TrunklineError } from '../errors.ts'
import type { Compiled } from './compiled.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What is made of the schemas of its routes. */
    readonly compiled: Compiled
  }
}

/** Brackets within brackets that a body may have; scripts with their nested instructions stay far below. */
const deepest = 100

/**
 * How a site reads and checks what it is sent: bodies are JSON, no deeper than a hundred brackets, without keys that reach prototypes; every
 * fault is found, not only the first; nothing is left out or turned into another type, but for values of paths and queries, which are texts.
 */
export const useValidation = (site: FastifyInstance, compiled: Compiled): void => {
  site.decorate('compiled', compiled)
  site.setSerializerCompiler(({ schema }) => compiled.writer(schema))
  site.setValidatorCompiler(({ schema, httpPart }) =>
    compiled.check(httpPart === 'body' ? 'body' : 'text', schema as object),
  )
  site.removeAllContentTypeParsers()
  const parse = site.getDefaultJsonParser('error', 'error')
  site.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    // Clients say JSON where they send nothing, with DELETE for one.
    if (body === '') return done(null, undefined)
    if (depthOf(body) > deepest)
      return done(new TrunklineError('bad_request', `The body is nested deeper than ${deepest}.`))
    return parse(request, body, done)
  })
}

/** How deep brackets stand within one another, those of texts apart. */
const depthOf = (json: string): number => {
  let depth = 0
  let most = 0
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (part === '[' || part === '{') most = Math.max(most, ++depth)
    else if (part === ']' || part === '}') depth--
  }
  return most
}
