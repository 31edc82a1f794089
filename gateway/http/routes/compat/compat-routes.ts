import fastifyFormbody from '@fastify/formbody'
import type { Callbacks } from '../../../callbacks/callback-outbox.ts'
import type { CallPlacement } from '../../../calling/call-placement.ts'
import type { LiveCalls } from '../../../calls/call/live-call.ts'
import type { OpenConferences } from '../../../calls/conference/open-conferences.ts'
import type { CallHistory } from '../../../calls/log/call-rows.ts'
import type { OpenQueues } from '../../../calls/queue/open-queues.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import type { Projects, Resources } from '../../../directory/model/ports.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import type { Checks } from '../shared/document-checks.ts'
import { accountRoutes } from './compat-account-routes.ts'
import { applicationRoutes } from './compat-application-routes.ts'
import { callRecordingRoutes } from './compat-call-recording-routes.ts'
import { type CompatCallDeps, callRoutes } from './compat-call-routes.ts'
import { conferenceRoutes } from './compat-conference-routes.ts'
import { documentRoutes } from './compat-document-routes.ts'
import { queueRoutes } from './compat-queue-routes.ts'
import { type CompatRecordingDeps, recordingRoutes } from './compat-recording-routes.ts'
import { type ApiStreams, streamRoutes } from './compat-stream-routes.ts'
import { bodyLimit, routesOf } from './form-routes.ts'
import type { SideDocuments } from './side-documents.ts'

/** Calls, conferences and queues of the XML family. */
export interface CompatCalls {
  readonly placement: CallPlacement
  readonly live: LiveCalls
  readonly conferences: OpenConferences
  readonly queues: OpenQueues
  readonly sideDocuments: SideDocuments
  readonly callbacks: Callbacks
  readonly documentChecks: Checks
}

/** CDRs and recordings of the XML family. */
export interface CompatArchive {
  readonly cdrs: CompatCallDeps['cdrs']
  readonly history: CallHistory
  readonly recordings: CompatRecordingDeps['recordings']
}

/** Collaborators of {@link compatRoutes}. */
export interface CompatDeps {
  readonly directory: {
    readonly projects: Pick<Projects, 'project'>
    readonly resources: Pick<Resources, 'find' | 'list' | 'create' | 'update' | 'remove'>
  }
  readonly calls: CompatCalls
  readonly archive: CompatArchive
  readonly streams: ApiStreams
  readonly requireProject: RequireProject
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'debug'>
}

/**
 * REST of the XML family (`docs/compat.md`), below `/api/laml/2010-04-01` and `/2010-04-01`, with and without
 * `.json`. Bodies are forms; each value is read as the type of its parameter.
 */
export const compatRoutes = async (
  site: TypedSite,
  { directory, calls, archive, streams, requireProject, clock, log }: CompatDeps,
): Promise<void> => {
  const { projects, resources } = directory
  const { placement, live, conferences, queues, sideDocuments, callbacks, documentChecks } = calls
  const { cdrs, history, recordings } = archive
  await site.register(async (scope: TypedSite) => {
    scope.removeAllContentTypeParsers()
    await scope.register(fastifyFormbody, { bodyLimit })
    scope.setValidatorCompiler(({ schema }) => scope.compiled.check('text', schema as object))
    const on = routesOf(scope, { requireProject, log })
    accountRoutes(on, { projects })
    callRoutes(on, { placement, history, resources, documentChecks, cdrs })
    callRecordingRoutes(on, { live, history, recordings, callbacks })
    streamRoutes(on, { live, history, streams })
    conferenceRoutes(on, { conferences, sideDocuments })
    queueRoutes(on, { queues, placement, clock })
    applicationRoutes(on, { resources })
    documentRoutes(on, { resources, documentChecks })
    await recordingRoutes(scope, on, { recordings })
  })
}
