import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProjectAccess } from '../auth/project-access.ts'
import { TrunklineError } from '../errors.ts'

/** The project that sends a request, by Basic auth (RFC 7617); throws `unauthorized`, or `too_many_requests` after many wrong ones. */
export type AuthenticateProject = (request: FastifyRequest, reply: FastifyReply) => string

/** Makes it: the user name is the project's id, the password its API token. */
export const basic =
  (access: ProjectAccess): AuthenticateProject =>
  (request, reply) => {
    const given = credentialsOf(request.headers.authorization)
    if (given && access.admits(given.project, given.token)) return given.project
    reply.header('www-authenticate', 'Basic realm="Trunkline", charset="UTF-8"')
    const wait = given ? access.failed(request.ip) : 0
    if (wait > 0) {
      reply.header('retry-after', Math.ceil(wait / 1000))
      throw new TrunklineError('too_many_requests')
    }
    throw new TrunklineError('unauthorized', 'Basic auth with the project’s id and its API token is needed.')
  }

const credentialsOf = (header: string | undefined): { project: string; token: string } | undefined => {
  const encoded = /^Basic +([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined) return undefined
  const [project = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  return { project, token: rest.join(':') }
}
