import fastifyFormbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { type AccountParts, accountRoutes } from './accounts.ts'
import { type ApplicationParts, applicationRoutes } from './applications.ts'
import { type CallRecordingParts, callRecordingRoutes } from './call-recordings.ts'
import { type CallParts, callRoutes } from './calls.ts'
import { type ConferenceParts, conferenceRoutes } from './conferences.ts'
import { documentRoutes } from './documents.ts'
import { type QueueParts, queueRoutes } from './queues.ts'
import { type CompatRecordingParts, recordingRoutes } from './recordings.ts'
import { bodyLimit, type OnParts, routesOf } from './routes.ts'
import { type StreamParts, streamRoutes } from './streams.ts'

/** What the XML family needs. */
export type CompatParts = OnParts &
  AccountParts &
  ApplicationParts &
  CallParts &
  CallRecordingParts &
  CompatRecordingParts &
  StreamParts &
  ConferenceParts &
  QueueParts

/**
 * The XML family's REST (`docs/compat.md`), below `/api/laml/2010-04-01` and `/2010-04-01`, with and without `.json`. Bodies are forms, and
 * their values texts, which are read as what the parameter is.
 */
export const compatRoutes = async (site: FastifyInstance, parts: CompatParts): Promise<void> => {
  await site.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    await scope.register(fastifyFormbody, { bodyLimit })
    scope.setValidatorCompiler(({ schema }) => scope.compiled.check('text', schema as object))
    const on = routesOf(scope, parts)
    accountRoutes(on, parts)
    callRoutes(on, parts)
    callRecordingRoutes(on, parts)
    streamRoutes(on, parts)
    conferenceRoutes(on, parts)
    queueRoutes(on, parts)
    applicationRoutes(on, parts)
    documentRoutes(on, parts)
    await recordingRoutes(scope, on, parts)
  })
}
