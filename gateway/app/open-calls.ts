import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config/types.ts'
import type { DocumentChecks } from '../../handlers/reading/checks.ts'
import type { CallControl } from '../../handlers/verbs.ts'
import type { MixerOptions } from '../../media/types.ts'
import { ApiCall } from '../calling/api-call.ts'
import { CallCommands } from '../calling/call-commands.ts'
import { CallPlacer } from '../calling/call-placer.ts'
import { CalleeCheck, type Objection } from '../calling/callee-check.ts'
import type { RunAgent } from '../calling/operations/agent-operation.ts'
import { Player } from '../calls/audio/player.ts'
import { WaitingAudio } from '../calls/audio/waiting-audio.ts'
import { ProjectConferences } from '../calls/conference/conferences.ts'
import { LegDialer, type LegDialerDeps } from '../calls/connect/leg-dialer.ts'
import { Bridges } from '../calls/leg/bridges.ts'
import { LocalLegs } from '../calls/local/local-legs.ts'
import { CallLog } from '../calls/log/call-log.ts'
import { CdrWriter } from '../calls/log/cdr-writer.ts'
import { ProjectQueues } from '../calls/queue/queues.ts'
import type { ProjectRooms } from '../calls/room/project-rooms.ts'
import { Calls, type CallsSettings } from '../calls/session/calls.ts'
import { HandlerContexts } from '../calls/session/handler-contexts.ts'
import { type Applications, HandlerRunner } from '../calls/session/handler-runner.ts'
import type { Speech } from '../calls/verbs/call-controller-deps.ts'
import { CallControllers, type VerbSettings } from '../calls/verbs/call-controllers.ts'
import { CallDetector } from '../calls/verbs/call-detector.ts'
import type { CdrStore } from '../cdr/cdr-store.ts'
import type { SystemClock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { AddressBook } from '../model.ts'
import { RecentCalls } from '../operator/recent-calls.ts'
import type { Recordings } from '../recordings/recordings.ts'
import type { DialPolicy } from '../sip/trunks/dial-policy.ts'
import {
  type AppContext,
  type CustomerServers,
  type OpenedMedia,
  type OpenedStore,
  openHandlers,
  openRecogniser,
  openStreams,
} from './open.ts'
import { openAgents } from './open-agents.ts'

/** Opened components that calls use. */
export interface OpenCallsDeps {
  readonly store: OpenedStore
  readonly media: OpenedMedia
  /** Makers of legs to SIP targets and subscribers. */
  readonly outbound: Pick<LegDialerDeps, 'sip' | 'endpoints' | 'subscribers'>
  /** Hosts that a project may call. */
  readonly dialPolicy: Pick<DialPolicy, 'objection'>
  readonly applications: Applications
  readonly rooms: ProjectRooms
  readonly recordings: Recordings
  readonly customers: CustomerServers
  readonly records: CdrStore
  /** Clock of calls alone, so that the gauge of their timers is zero without calls. */
  readonly clock: SystemClock
}

/** The calls, and the components through which the API places and controls calls. */
export interface OpenedCalls {
  readonly calls: Calls
  readonly placing: CallPlacer
  readonly commands: CallCommands
  /** Ended calls, for the operator. */
  readonly recent: RecentCalls
  readonly conferences: ProjectConferences
  readonly rooms: ProjectRooms
  readonly queues: ProjectQueues
  /** Checks of documents that are sent to the API. */
  readonly documentChecks: DocumentChecks
  /** Runs voice agents outside of documents. */
  readonly runAgent: RunAgent
}

/** Returns a function that returns whether a host name belongs to this gateway, for calls of a project. */
const ownHosts =
  (directory: OpenedStore['directory'], publicHost: string | undefined) =>
  (host: string, projectId: string): boolean =>
    // The public host may have a port, which is removed for the comparison.
    host === publicHost?.replace(/:\d+$/, '').toLowerCase() ||
    directory.domainApp(host)?.projectId === projectId

const verbSettings = ({ limits }: Pick<Config, 'limits'>, speech: Speech): VerbSettings => ({
  speech,
  ringMs: limits.ringMs,
})

const callSettings = ({ limits }: Pick<Config, 'limits'>): CallsSettings => ({
  maxDurationMs: limits.callDurationMs,
  maxCalls: limits.calls,
})

const addressSettings = ({ limits }: Pick<Config, 'limits'>) => ({
  maxDepth: limits.addressDepth,
  maxCalls: limits.addressCalls,
})

/** Opens the calls with their conferences and queues. */
export const openCalls = (base: AppContext, from: OpenCallsDeps, metrics: Metrics): OpenedCalls => {
  const { config, log } = base
  const { store, media, outbound, dialPolicy, applications, rooms, recordings, customers, records, clock } =
    from
  const { edge, webrtc, sounds } = media
  const bridges = new Bridges(edge, webrtc, (err, a, b) =>
    log.warn({ event: 'call.video-not-bridged', err, legs: [a.id, b.id] }, 'video of two legs not bridged'),
  )
  const player = new Player(sounds, customers.audio)
  const openMixer = (options?: MixerOptions) => edge.openMixer(options)
  const waitingAudio = new WaitingAudio(player, clock, log)
  const queues = new ProjectQueues({ waitingAudio, clock, log })
  const conferences = new ProjectConferences({ waitingAudio, openMixer, recordings, clock, log })
  const { http: documents, callbacks } = customers
  const { nodeId } = store
  const { handlers, documentChecks, runAgent } = openHandlers(base, nodeId, metrics)
  const locals = new LocalLegs({
    edge,
    arrivals: { arrive: (arrival) => calls.arrive(arrival) },
    limits: addressSettings(config),
    metrics,
    clock,
    log,
  })
  const callLog = new CallLog({ rows: records, callbacks, clock, nodeId })
  const recogniserOf = openRecogniser(base, metrics)
  let present = config
  let recogniser = recogniserOf(config)
  const { directory } = store
  const isOwnHost = ownHosts(directory, config.http.publicHost)
  const contexts = new HandlerContexts({ documents, callbacks, isOwnHost, clock, metrics }, config.envs)
  const runner = new HandlerRunner(handlers, contexts, applications)
  const { recordsUrl: cdrUrl } = config.webhooks
  const recent = new RecentCalls()
  const cdrs = new CdrWriter({
    onEnded: (call) => recent.add(call),
    callbacks,
    cdrs: records,
    ...(cdrUrl && { cdrUrl }),
    clock,
    log,
    metrics,
  })
  const services = {
    bridges,
    openMixer,
    player,
    streams: openStreams(base, edge, metrics),
    recordings,
    conferences,
    rooms,
    queues,
    detector: new CallDetector({ clock, log, metrics }),
    agents: openAgents(base, sounds, player, metrics),
  }
  const addresses: AddressBook = directory
  const dialer = new LegDialer({
    addresses,
    endpoints: outbound.endpoints,
    sip: outbound.sip,
    subscribers: outbound.subscribers,
    locals,
  })
  const controllers = new CallControllers(
    { services, dialer, callLog, metrics, clock },
    verbSettings(config, recogniser),
  )
  const calls: Calls = new Calls(
    { runner, controllers, addresses, callLog, cdrs, metrics, clock, log },
    callSettings(config),
  )
  base.followers.change('calls', (next) => {
    const { recogniser: wanted } = next.media.speech
    if (!isDeepStrictEqual(wanted, present.media.speech.recogniser)) recogniser = recogniserOf(next)
    present = next
    locals.change(addressSettings(next))
    contexts.change(next.envs)
    cdrs.change(next.webhooks.recordsUrl)
    controllers.change(verbSettings(next, recogniser))
    calls.change(callSettings(next))
  })
  metrics.gauge('calls', () => calls.count)
  metrics.gauge('legs', () => calls.legs)
  metrics.gauge('bridges', () => bridges.count)
  metrics.gauge('video_bridges', () => bridges.videos)
  metrics.gauge('verbs', () => controllers.pending)
  metrics.gauge('conferences', () => conferences.count)
  metrics.gauge('queue_waiting', () => queues.waiting)
  metrics.gauge('call_timers', () => clock.running)
  metrics.gauge('call_rows', () => records.live)
  metrics.gauge('calls_told_of', () => callLog.watched)
  const objection: Objection = (uri, projectId) => dialPolicy.objection(uri, projectId)
  const callees = new CalleeCheck(dialer, objection)
  const placing = new CallPlacer({ callees, calls, callLog, history: records, callbacks, clock, log })
  const apiCallOf = (control: CallControl) => new ApiCall({ callLog, callbacks, nodeId, clock }, control)
  const commands = new CallCommands({ apiCallOf, calls, addresses, history: records })
  metrics.gauge('commanded_calls', () => commands.size)
  const runOn: RunAgent = (control, request) => {
    const context = contexts.of(control, log.child({ call: control.info.callId }), {
      variables: {},
      status: undefined,
    })
    return runAgent(control, context, request)
  }
  return { calls, recent, placing, commands, conferences, rooms, queues, documentChecks, runAgent: runOn }
}
