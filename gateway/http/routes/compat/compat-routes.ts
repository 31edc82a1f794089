import fastifyFormbody from '@fastify/formbody'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { accountRoutes, type CompatAccountDeps } from './compat-account-routes.ts'
import { applicationRoutes, type CompatApplicationDeps } from './compat-application-routes.ts'
import { type CompatCallRecordingDeps, callRecordingRoutes } from './compat-call-recording-routes.ts'
import { type CompatCallDeps, callRoutes } from './compat-call-routes.ts'
import { type CompatConferenceDeps, conferenceRoutes } from './compat-conference-routes.ts'
import { documentRoutes } from './compat-document-routes.ts'
import { type CompatQueueDeps, queueRoutes } from './compat-queue-routes.ts'
import { type CompatRecordingDeps, recordingRoutes } from './compat-recording-routes.ts'
import { type CompatStreamDeps, streamRoutes } from './compat-stream-routes.ts'
import { bodyLimit, type OnDeps, routesOf } from './form-routes.ts'

/** Collaborators of the routes of the XML family. */
export type CompatDeps = OnDeps &
  CompatAccountDeps &
  CompatApplicationDeps &
  CompatCallDeps &
  CompatCallRecordingDeps &
  CompatRecordingDeps &
  CompatStreamDeps &
  CompatConferenceDeps &
  CompatQueueDeps

/**
 * The XML family's REST (`docs/compat.md`), below `/api/laml/2010-04-01` and `/2010-04-01`, with and without
 * `.json`. Bodies are forms, and their values texts, which are read as what the parameter is.
 */
export const compatRoutes = async (site: TypedSite, deps: CompatDeps): Promise<void> => {
  await site.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    await scope.register(fastifyFormbody, { bodyLimit })
    scope.setValidatorCompiler(({ schema }) => scope.compiled.check('text', schema as object))
    const on = routesOf(scope, deps)
    accountRoutes(on, deps)
    callRoutes(on, deps)
    callRecordingRoutes(on, deps)
    streamRoutes(on, deps)
    conferenceRoutes(on, deps)
    queueRoutes(on, deps)
    applicationRoutes(on, deps)
    documentRoutes(on, deps)
    await recordingRoutes(scope, on, deps)
  })
}
