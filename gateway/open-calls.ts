import { Bridges } from './calls/bridge.ts'
import { Calls } from './calls/calls.ts'
import { CallDetector } from './calls/detect.ts'
import { Player } from './calls/player.ts'
import { ProjectConferences } from './calls/rooms/conferences.ts'
import { ProjectQueues } from './calls/rooms/queues.ts'
import type { SystemClock } from './clock.ts'
import type { Metrics } from './metrics.ts'
import {
  type Base,
  type Customers,
  type Media,
  openHandlers,
  openRecogniser,
  openStreams,
  type Store,
} from './open.ts'
import type { Recordings } from './recordings/recordings.ts'
import type { RealtimeDialect } from './rpc/realtime/dialect.ts'
import type { SubscriberDialect } from './rpc/subscriber/dialect.ts'
import type { SipEdge } from './sip/index.ts'
import type { EndpointContacts } from './sip/registrar/index.ts'

/** What calls come by, and go to. */
export interface Dialects {
  readonly subscribers: SubscriberDialect
  readonly applications: RealtimeDialect
}

/** What the calls are made of. */
export interface CallsFrom extends Dialects {
  readonly store: Store
  readonly media: Media
  readonly sip: SipEdge
  readonly endpoints: EndpointContacts | undefined
  readonly recordings: Recordings
  readonly customers: Customers
  /** Apart from the base's, so that the gauge of calls' timers is zero when there is no call. */
  readonly clock: SystemClock
}

/** Opens the calls, with the rooms in which callers meet and wait. */
export const openCalls = (base: Base, from: CallsFrom, metrics: Metrics): Calls => {
  const { config, log } = base
  const { store, media, sip, subscribers, applications, endpoints, recordings, customers, clock } = from
  const { edge, sounds } = media
  const bridges = new Bridges(edge)
  const player = new Player(sounds, customers.audio)
  const openMixer = () => edge.openMixer()
  const waiting = { player, openMixer, recordings, clock, log }
  const queues = new ProjectQueues(waiting)
  const conferences = new ProjectConferences(waiting)
  const calls = new Calls({
    ...{
      addresses: store.directory,
      sip,
      subscribers,
      applications,
      endpoints,
      bridges,
      metrics,
      log,
      clock,
    },
    ...{ player, recordings, queues, waiters: queues, conferences },
    ...openRecogniser(base, metrics),
    streams: openStreams(base, edge, metrics),
    detector: new CallDetector({ clock, log, metrics }),
    documents: customers.http,
    callbacks: customers.callbacks,
    envs: config.envs,
    handlers: openHandlers(base, metrics),
    ringMs: config.limits.ringMs,
    callDurationMs: config.limits.callDurationMs,
    maxCalls: config.limits.calls,
    ...(config.webhooks.recordsUrl && { recordsTo: config.webhooks.recordsUrl }),
  })
  metrics.gauge('calls', () => calls.count)
  metrics.gauge('legs', () => calls.legs)
  metrics.gauge('bridges', () => bridges.count)
  metrics.gauge('verbs', () => calls.verbs)
  metrics.gauge('conferences', () => conferences.count)
  metrics.gauge('queue_waiting', () => queues.waiting)
  metrics.gauge('call_timers', () => clock.running)
  return calls
}
