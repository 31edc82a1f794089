import { type ProjectAccess, permits } from '../../auth/project-access.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { RequireProject } from './principal.ts'

/**
 * Returns the hooks of routes for projects. They require Basic authentication (RFC 7617), with the project's
 * id as user name and an API token as password.
 */
export const basicAuth =
  (access: ProjectAccess): RequireProject =>
  (scope) =>
  async (request, reply) => {
    const given = credentialsOf(request.headers.authorization)
    const token = given && access.tokenOf(given.project, given.token)
    if (token) {
      if (!permits(token, scope))
        throw new TrunklineError('insufficient_scope', `The token lacks the scope ${scope}.`)
      request.projectId = token.projectId
      request.apiTokenId = token.id
      return
    }
    reply.header('www-authenticate', 'Basic realm="Trunkline", charset="UTF-8"')
    const wait = given ? access.failed(request.ip) : 0
    if (wait > 0) {
      reply.header('retry-after', Math.ceil(wait / 1000))
      throw new TrunklineError('too_many_requests')
    }
    throw new TrunklineError(
      'unauthorized',
      'Basic authentication with the project’s id and an API token is required.',
    )
  }

/** Returns whether a header has the form of Basic credentials. */
export const isBasic = (header: string | undefined): boolean => /^Basic +/i.test(header ?? '')

const credentialsOf = (header: string | undefined): { project: string; token: string } | undefined => {
  const encoded = /^Basic +([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const [project = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  return { project, token: rest.join(':') }
}
