import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { TrunklineError } from '../errors.ts'
import { type Attempts, networkKey } from './attempts.ts'

/** The project that sends a request, by Basic auth (RFC 7617); throws `unauthorized`, or `too_many_requests` after many wrong ones. */
export type AuthenticateProject = (request: FastifyRequest, reply: FastifyReply) => string

/** What Basic auth is checked against. */
export interface BasicAuth {
  /** The user name. */
  readonly project: string
  /** The password; undefined: nobody has access. */
  readonly token: string | undefined
  /** Wrong ones of each network address. */
  readonly failures: Attempts
}

/** Makes it. */
export const basic =
  ({ project, token, failures }: BasicAuth): AuthenticateProject =>
  (request, reply) => {
    const given = credentialsOf(request.headers.authorization)
    const expected = `${project}:${token}`
    // What nobody configured is not to be guessed either.
    if (token !== undefined && given !== undefined && alike(given, expected)) return project
    reply.header('www-authenticate', 'Basic realm="Trunkline", charset="UTF-8"')
    const wait = given === undefined ? 0 : failures.take(networkKey(request.ip))
    if (wait > 0) {
      reply.header('retry-after', Math.ceil(wait / 1000))
      throw new TrunklineError('too_many_requests')
    }
    throw new TrunklineError('unauthorized', 'Basic auth with the project’s id and its API token is needed.')
  }

const credentialsOf = (header: string | undefined): string | undefined => {
  const encoded = /^Basic +([\w+/=-]+)$/i.exec(header ?? '')?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()
}

/** In the same time whatever differs, the length too. */
const alike = (a: string, b: string): boolean => {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
