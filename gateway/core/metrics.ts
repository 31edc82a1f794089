import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Every Prometheus metric of the gateway, declared in one place. */
export class Metrics {
  readonly registry = new Registry()

  /** Calls that ended, by direction of the first leg and cause. */
  readonly callsEnded = this.#counter('calls_ended_total', 'Calls that ended', ['direction', 'cause'])
  /** Rejected calls and requests, by code of the error catalogue. */
  readonly rejections = this.#counter('rejections_total', 'Rejected calls and requests', ['code'])
  /**
   * HTTP connections that were closed to stay within the limits, by listener and reason: full, address,
   * replaced.
   */
  readonly httpConnectionsDropped = this.#counter(
    'http_connections_dropped_total',
    'HTTP connections dropped',
    ['listener', 'reason'],
  )
  /** REGISTER requests, by outcome. */
  readonly registrations = this.#counter('registrations_total', 'REGISTER requests', ['outcome'])
  /** Reloads of the configuration, by outcome: applied, unchanged, invalid, failed. */
  readonly configReloads = this.#counter('config_reloads_total', 'Reloads of the configuration', ['result'])
  /** Documents fetched, by outcome. */
  readonly documents = this.#counter('documents_total', 'Documents fetched for handlers', ['outcome'])
  /** Verbs that have ended, by name and outcome. */
  readonly verbs = this.#counter('verbs_total', 'Verbs that have ended', ['verb', 'outcome'])
  /**
   * Attempts to send callbacks to customers' servers, by kind and outcome: delivered, later, refused,
   * given-up, dropped.
   */
  readonly callbacks = this.#counter('callbacks_total', "Attempts to send callbacks to customers' servers", [
    'kind',
    'outcome',
  ])
  /**
   * Sounds prepared for playback, by kind and source: memory, the cache folder, another call's preparation,
   * or new.
   */
  readonly sounds = this.#counter('sounds_total', 'Sounds prepared for playback', ['kind', 'by'])
  /** Texts spoken, by engine and result. */
  readonly speech = this.#counter('speech_total', 'Texts spoken', ['engine', 'result'])
  /** Speech recognitions that have ended, by result. */
  readonly recognitions = this.#counter('recognitions_total', 'Speech recognitions that have ended', [
    'result',
  ])
  /** Streams of call audio that have ended, by kind (websocket, rtp) and reason of the end. */
  readonly streamsEnded = this.#counter('streams_ended_total', 'Audio streams that have ended', [
    'kind',
    'end',
  ])
  /** Conversations of voice agents that have ended, by end. */
  readonly agentsEnded = this.#counter('agents_ended_total', 'Conversations of voice agents that ended', [
    'end',
  ])
  /** Failures of engines of voice agents, by engine, part of it, and kind of the failure. */
  readonly agentEngineFailures = this.#counter(
    'agent_engine_failures_total',
    'Failures of engines of voice agents',
    ['engine', 'part', 'failure'],
  )
  /** Time from the end of a caller's voice to the first packet of the agent's answer, by engine. */
  readonly agentResponses = new Histogram({
    name: 'trunkline_agent_response_seconds',
    help: "Time from the end of a caller's voice to the first packet of the answer",
    labelNames: ['engine'],
    buckets: [0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10],
    registers: [this.registry],
  })
  /** Interruptions of voice agents by callers; `transparent`: the turn before went on. */
  readonly agentInterruptions = this.#counter(
    'agent_interruptions_total',
    'Answers of voice agents that were cut: by callers, or given up',
    ['how'],
  )
  /** Sounds of callers that the detector of voice agents judged: voice, noise, unknown. */
  readonly agentSounds = this.#counter('agent_sounds_total', 'Sounds of callers of voice agents', ['verdict'])
  /** Failures of the detector of voice agents: missing, broken, ended. */
  readonly agentDetectorFailures = this.#counter(
    'agent_detector_failures_total',
    'Failures of the detector of voice agents',
    ['failure'],
  )
  /** Detections that have ended, by result; `none`: nothing was detected in time. */
  readonly detections = this.#counter('detections_total', 'Detections that have ended', ['result'])
  /** Recordings that have ended, by reason. */
  readonly recordingsEnded = this.#counter('recordings_ended_total', 'Recordings that have ended', ['reason'])
  /**
   * Attempts to send recordings to customers' storage, by outcome. An attempt with the outcome `later` is
   * followed by another one.
   */
  readonly recordingUploads = this.#counter('recording_uploads_total', 'Recordings sent to storage', [
    'outcome',
  ])
  /** Conversions of recordings of rooms to MP4, by outcome: `converted` or `failed`. */
  readonly recordingConversions = this.#counter(
    'recording_conversions_total',
    'Recordings of rooms converted to MP4',
    ['outcome'],
  )
  /** Failed attempts to stream rooms, by fault: `unreachable`, `refused`, `lost`, `slow` or `encoder`. */
  readonly roomStreamFailures = this.#counter(
    'room_stream_failures_total',
    'Failed attempts to stream rooms to servers',
    ['fault'],
  )
  /**
   * Removed recordings, by reason: `age`, `room` (disk space was needed), `request`, or `orphan` (a file
   * without a row).
   */
  readonly recordingsRemoved = this.#counter('recordings_removed_total', 'Recordings removed', ['by'])
  /** Calls and CDRs that were lost: the store did not accept them in time, or rejected them. */
  readonly recordsLost = this.#counter('records_lost_total', 'Calls and CDRs that were lost', [])
  /** Calls and CDRs that were removed because of their age. */
  readonly recordsRemoved = this.#counter(
    'records_removed_total',
    'Expired calls and CDRs that were removed',
    [],
  )
  /** Notifications to devices, by transport and outcome: sent, or the reason of the failure. */
  readonly pushes = this.#counter('pushes_total', "Notifications to subscribers' devices", [
    'transport',
    'outcome',
  ])
  /** Devices removed because the push service reported their token as invalid, by transport. */
  readonly pushTokensRemoved = this.#counter(
    'push_tokens_removed_total',
    'Devices removed because of an invalid token',
    ['transport'],
  )
  /** RTP packets rejected by the edge, by reason. */
  readonly rtpRefused = this.#counter('rtp_refused_total', 'Rejected RTP packets', ['reason'])
  /**
   * Estimated mean opinion score of the audio received from each leg's far side, 1 to 4.5, by carrier and
   * codec.
   */
  readonly audioMos = this.#audio(
    'audio_mos',
    'Estimated mean opinion score of the audio received from a leg',
    [1.5, 2, 2.5, 3, 3.4, 3.6, 3.8, 4, 4.2, 4.4],
  )
  /** Share of each leg's packets that were lost, 0 to 1, by carrier and codec. */
  readonly audioLoss = this.#audio(
    'audio_loss_ratio',
    'Share of packets that were lost',
    [0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  )
  /** Interarrival jitter at the end of each leg, in seconds, by carrier and codec. */
  readonly audioJitter = this.#audio(
    'audio_jitter_seconds',
    'Interarrival jitter at the end of a leg',
    [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2],
  )
  /** WebSocket requests, by method and outcome. */
  readonly rpcRequests = this.#counter('rpc_requests_total', 'Requests over WebSockets', [
    'method',
    'outcome',
  ])
  /**
   * Offers of calls to realtime applications, by outcome: taken, passed, silent, lost, or over if the caller
   * hung up first.
   */
  readonly applicationOffers = this.#counter(
    'application_offers_total',
    'Offers of calls to realtime applications',
    ['outcome'],
  )
  /** Share of lost packets of members of rooms in a sample, by kind (audio, video) and direction. */
  readonly roomLoss = new Histogram({
    name: 'trunkline_room_loss_ratio',
    help: 'Share of lost packets of a member of a room in a sample; directions are those of the member',
    buckets: [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    labelNames: ['kind', 'direction'],
    registers: [this.registry],
  })
  /** Round trip time of members of rooms in a sample, in seconds, by kind (audio, video). */
  readonly roomRoundTrip = new Histogram({
    name: 'trunkline_room_round_trip_seconds',
    help: 'Round trip time of a member of a room in a sample',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6],
    labelNames: ['kind'],
    registers: [this.registry],
  })
  /** Frames per second of the pictures of rooms in a sample. */
  readonly roomFrames = new Histogram({
    name: 'trunkline_room_frames_per_second',
    help: 'Frames per second of the picture that a member of a room receives, in a sample',
    buckets: [0, 5, 10, 15, 20, 25, 30],
    registers: [this.registry],
  })
  /** Seconds from a call's arrival to its answer. */
  readonly answerSeconds = new Histogram({
    name: 'trunkline_answer_seconds',
    help: 'Seconds from the arrival of a call to its answer',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [this.registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix: 'trunkline_' })
  }

  /**
   * Declares a gauge that is read at each scrape. The owner of a map declares a gauge of the map's size, so
   * that a leak is visible. `name` is without the prefix `trunkline_`.
   */
  gauge(name: GaugeName, read: () => number | Promise<number>): void {
    new Gauge({
      name: `trunkline_${name}`,
      help: gauges[name],
      registers: [this.registry],
      async collect() {
        this.set(await read())
      },
    })
  }

  /**
   * Declares gauges that differ by their labels and are read together. `name` is without the prefix. They
   * describe a state, and need not return to zero after the last call.
   */
  gauges<L extends string>(
    name: LabelledName,
    labelNames: readonly L[],
    read: () => readonly { readonly labels: Readonly<Record<L, string>>; readonly value: number }[],
  ): void {
    new Gauge({
      name: `trunkline_${name}`,
      help: labelled[name],
      labelNames: [...labelNames],
      registers: [this.registry],
      collect() {
        this.reset()
        for (const { labels, value } of read()) this.set(labels, value)
      },
    })
  }

  /** Declares a counter with a label that another component counts; otherwise like {@link gauge}. */
  countsBy(
    name: keyof typeof namedCounters,
    read: () => Promise<Iterable<readonly [name: string, value: number]>>,
  ): void {
    const { help, label } = namedCounters[name]
    new Counter({
      name: `trunkline_${name}`,
      help,
      labelNames: [label],
      registers: [this.registry],
      async collect() {
        const counts = await read()
        this.reset()
        for (const [of, value] of counts) this.inc({ [label]: of }, value)
      },
    })
  }

  /**
   * Declares a counter without labels that another component counts. `read` returns its total since the
   * start.
   */
  total(name: keyof typeof totals, read: () => number | Promise<number>): void {
    new Counter({
      name: `trunkline_${name}`,
      help: totals[name],
      registers: [this.registry],
      async collect() {
        const value = await read()
        this.reset()
        this.inc(value)
      },
    })
  }

  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics()
  }

  #audio(name: string, help: string, buckets: number[]): Histogram<'carrier' | 'codec'> {
    return new Histogram({
      name: `trunkline_${name}`,
      help,
      buckets,
      registers: [this.registry],
      labelNames: ['carrier', 'codec'],
    })
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name: `trunkline_${name}`, help, labelNames, registers: [this.registry] })
  }
}

const namedCounters = {
  sip_dropped_total: {
    help:
      'Packets and connections that the shield dropped before parsing; reason `tls`: failed TLS handshakes ' +
      'of accepted connections',
    label: 'reason',
  },
  sip_refused_total: {
    help: 'SIP requests that the embedded agent rejected on its own',
    label: 'status',
  },
} as const

const totals = {
  sip_diverted_total:
    'SIP dialogs whose requests returned to the peer, because their route leads to a forbidden destination',
  rtp_ports_reused_total:
    'Carrier-facing ports reused before the end of their quarantine, as no other was free',
} as const

/** Gauges without labels. Each returns to zero after the last call, ports after their quarantine. */
const gauges = {
  calls: 'Calls in progress',
  legs: 'Legs in progress',
  bridges: 'Legs joined in pairs',
  video_bridges: 'Pairs of browsers with bridged video',
  room_sessions: 'Room sessions in progress',
  room_members: 'Members of room sessions, shared screens included',
  room_playbacks: 'Files that are fetched for rooms or played into them',
  room_streams: 'Streams of rooms to servers',
  composed_rooms: 'Room sessions with a composed picture',
  call_parties: 'Browsers in calls, and the telephones bridged with them',
  verbs: 'Verbs in progress',
  conferences: 'Conferences in progress',
  queue_waiting: 'Callers waiting in queues',
  sip_dialogs: 'SIP dialogs and pending INVITEs of the gateway',
  sip_unconfirmed: 'Calls of untrusted callers over UDP that have not confirmed their address yet',
  sip_established: 'Established SIP dialogs that a transfer can refer to',
  sip_transactions: 'SIP transactions of the embedded agent',
  sip_agent_dialogs: 'SIP dialogs of the embedded agent',
  sip_agent_pending: 'Requests in the embedded agent without a final response',
  sip_connections: 'Connections to SIP peers, of every transport but UDP',
  sip_banned: 'Addresses that the shield has banned',
  load_percent: 'Busy share of the busiest signalling thread in the last second, in percent',
  sip_bindings: 'Contacts that SIP endpoints have registered',
  callbacks_waiting: "Callbacks that customers' servers have not accepted yet",
  callbacks_unstored: 'Callbacks of best effort, such as debug events, that are not sent yet',
  expressions: 'Script expressions waiting or being evaluated',
  documents_read: 'Documents that separate threads check, or that wait for such a thread',
  customer_circuits_open: "Customers' servers with an open circuit breaker",
  customer_sockets: "WebSockets to customers' servers that exchange text",
  audio_fetches: 'URLs of audio that are being fetched',
  speech_recognitions: 'Speech recognitions in progress',
  streams: "Streams of calls' audio in progress",
  recordings: 'Recordings in progress',
  recordings_bytes: 'Bytes of all recordings that are kept',
  recordings_converting: 'Recordings of rooms that are being converted to MP4, or wait for it',
  recordings_uploading: 'Recordings that are being sent to storage',
  recordings_free_bytes: 'Bytes free on the disk of the recordings; -1 if unknown',
  presence_watchers: 'Browsers that watch the presence of subscribers',
  history_waiting: 'Calls of the history of subscribers not written to the store yet',
  room_history_waiting: 'Rows of the history of video rooms not written to the store yet',
  records_waiting: 'Calls and CDRs not written to the store yet',
  records_kept: 'Calls and CDRs in the store, counted within the last hour',
  rtp_ports: 'Carrier-facing media ports open',
  rtp_ports_quarantined: 'Carrier-facing ports in quarantine for 30 s after their use',
  rtp_ports_total: 'Carrier-facing ports in the configured range',
  media_ports: 'Media ports open, of every kind',
  media_mixers: 'Mixers open',
  media_recordings: 'Recordings in progress in media threads',
  media_taps: 'Taps open on media ports',
  media_detections: 'Detections in progress on media ports',
  webrtc_transports: 'Browser transports open',
  websockets: 'WebSocket connections',
  websockets_waiting: 'WebSocket connections that have not signed in',
  store_connections: 'Connections to the database server',
  store_connections_idle: 'Idle connections to the database server',
  store_queries_waiting: 'Queries waiting for a connection to the database server',
  tokens_checked: 'Subscriber access tokens whose verified signature is remembered',
  tokens_revoked: 'Revoked subscriber access tokens that have not expired',
  oauth_callers: 'Networks whose OAuth requests are counted, of the last 10,000',
  agents: 'Voice agents in conversations',
  api_callers: 'Tokens and networks whose requests to the API are counted, of the last 20,000',
  api_streams: 'Audio streams in progress that REST calls started',
  api_requests_repeatable: 'Requests with an idempotency key in progress',
  push_sending: "Push notifications being sent to subscribers' devices",
  subscribers_online: 'Subscribers that receive invitations',
  browsers: 'Browser sessions of subscribers and guests, connected or waiting for reconnection',
  invitations: 'Legs to subscribers that have not ended',
  browser_shares:
    'Subscribers, tokens and networks with counted connections or calls, of the last minute or the last ' +
    '20,000 of a kind',
  chat_counted: 'Writers and conversations whose messages are counted, of the last minute',
  applications: 'Realtime applications, connected or waiting for reconnection',
  application_calls: 'Calls that realtime applications control or are offered',
  application_room_subscriptions: 'Subscriptions of realtime applications to the events of rooms',
  config_last_reload_timestamp_seconds:
    'Unix time of the last successful load of the configuration, at the start or by a reload',
  config_restart_keys: 'Keys of the configuration that have changed and need a restart',
  call_timers: 'Running timers of calls and legs',
  call_rows: 'Calls and called legs in progress',
  attributed_calls: 'Calls of browsers whose calls to carriers are counted',
  calls_told_of: 'Calls and called legs in progress with status callbacks',
  commanded_calls: 'Calls in progress that received API commands',
} as const

/** Gauges with labels. */
const labelled = {
  http_connections: 'HTTP connections of a listener, without WebSockets',
  certificate_expires_seconds: 'Seconds until a certificate of the gateway expires',
  room_viewers:
    'Members of rooms that receive video, by picture: high, low, paused, single (of one size), or cameras',
  room_bits_per_second:
    'Bit rate of all members of rooms, by kind (audio, video) and direction, which is that of the members',
  carrier_up: 'Whether a target of a carrier answers its pings; absent until pings have shown it',
  carrier_calls: 'Calls in progress of a carrier, both directions',
  applications_online:
    'Connected realtime applications that listen on a topic, by its hash; topics beyond 50 are counted ' +
    'together as *',
  registration_state: 'State of a registration with a carrier: 1 for the current state',
} as const

/** Names of the metrics that components declare when they are opened, without the prefix. */
export const declaredMetrics: readonly string[] = [gauges, labelled, namedCounters, totals].flatMap((each) =>
  Object.keys(each),
)

/** Name of gauges with labels, without the prefix. */
export type LabelledName = keyof typeof labelled
/** Name of a gauge, without the prefix. */
export type GaugeName = keyof typeof gauges
