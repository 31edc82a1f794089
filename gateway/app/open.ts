import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type SipAgent, startSipAgent } from '@trunkline/sip-agent'
import { AddressGuard } from '@trunkline/sip-agent/address-guard'
import type { Config } from '../../config/types.ts'
import { createFlowHandler } from '../../handlers/flow/handler.ts'
import { DocumentChecks } from '../../handlers/reading/checks.ts'
import { DocumentReader } from '../../handlers/reading/reader.ts'
import { createAgentRunner } from '../../handlers/script/agent-requests.ts'
import { createScriptHandler } from '../../handlers/script/handler.ts'
import { Sandbox } from '../../handlers/script/sandbox/sandbox.ts'
import { createXmlHandler } from '../../handlers/xml/handler.ts'
import { createComposers } from '../../media/compose/composers.ts'
import { createEdge } from '../../media/edge/edge.ts'
import { socketKind } from '../../media/edge/sockets-open.ts'
import { mp4Converter } from '../../media/ffmpeg/convert-mp4.ts'
import { type Ffmpeg, findFfmpeg } from '../../media/ffmpeg/ffmpeg.ts'
import { createSounds } from '../../media/sound/sounds.ts'
import type { Composers, Edge, Sounds } from '../../media/types.ts'
import { createWebRtc, type WebRtcService } from '../../media/webrtc/webrtc.ts'
import { Certificates } from '../auth/certificates.ts'
import { readOrMakeKey } from '../auth/key.ts'
import { type OpenTokens, openTokens } from '../auth/open-tokens.ts'
import { ProjectAccess } from '../auth/project-access.ts'
import { SessionStates } from '../auth/states.ts'
import { AudioFiles } from '../callbacks/audio-files.ts'
import { CallbackOutbox } from '../callbacks/callback-outbox.ts'
import { CustomerHttp } from '../callbacks/customer-http.ts'
import { OperatorHttp } from '../callbacks/operator-http.ts'
import { Signers } from '../callbacks/signing-keys.ts'
import { endLostCalls } from '../calling/lost-calls.ts'
import type { Speech } from '../calls/verbs/call-controller-deps.ts'
import { endLostRooms } from '../cdr/lost-rooms.ts'
import { ClusterNodes } from '../cluster/cluster-nodes.ts'
import { readOrMakeNodeId } from '../cluster/node-id.ts'
import type { SteadyClock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Directory } from '../directory/directory.ts'
import { createDirectory } from '../directory/directory.ts'
import type { NumberTarget } from '../directory/index/memory.ts'
import { directoryOptions } from '../directory/opening/directory-options.ts'
import type { ConfigFollowers } from '../directory/provision/config-followers.ts'
import { CallbackRows } from '../directory/tables/callbacks.ts'
import type { EndCalls } from '../directory/tables/interrupted.ts'
import { NodeRows } from '../directory/tables/nodes.ts'
import { endLostRecordings } from '../recordings/lost-recordings.ts'
import { linkBase } from '../recordings/recording-links.ts'
import { Recordings } from '../recordings/recordings.ts'
import type { RecentRefusals } from '../sip/admission/recent-refusals.ts'
import type { CarrierDirectory } from '../sip/trunks/carrier-directory.ts'
import { noRecogniser } from '../speech/no-recogniser.ts'
import { VoskRecogniser } from '../speech/vosk.ts'
import type { VoskResult } from '../speech/vosk-recognition.ts'
import { Streams } from '../streams/streams.ts'
import { agentOptions, tlsOf } from './agent-options.ts'
import { AgentRefusalLog } from './agent-refusal-log.ts'
import type { CloseStack } from './close-stack.ts'
import { sipStartError, webRtcStartError } from './listener-errors.ts'
import { logDiversion } from './log-diversion.ts'
import { noComposing } from './no-composing.ts'
import { ReplaceableSounds } from './replaceable-sounds.ts'
import { mebibyte, soundsOptions } from './sound-options.ts'
import { priorityOptions } from './thread-priority.ts'

/** Collaborators of every component of the gateway. */
export interface AppContext {
  readonly config: Config
  readonly clock: SteadyClock
  readonly log: Log
  readonly closing: CloseStack
  /** Components that a reload of the configuration changes. */
  readonly followers: ConfigFollowers
}

/** Called after the loss of a component that the gateway needs. */
export type OnFailure = (reason: string) => void

/** The directory, and the secrets and tokens that identify its users. */
export interface OpenedStore extends OpenTokens {
  readonly directory: Directory
  /** Checks API credentials of projects. */
  readonly access: ProjectAccess
  readonly states: SessionStates
  /** Secret of the gateway; other keys are derived from it. */
  readonly secret: Uint8Array
  /** Id of this gateway among those that share the store. */
  readonly nodeId: string
  /** Gateways that share the store. */
  readonly nodes: ClusterNodes
  /** Ends the calls of a gateway that has stopped. */
  readonly endCalls: EndCalls
}

/** Components that relay or generate audio and video. */
export interface OpenedMedia {
  readonly edge: Edge
  readonly webrtc: WebRtcService
  readonly sounds: Sounds
  /** Ffmpeg of the machine; undefined if it has none that can be used. */
  readonly ffmpeg: Ffmpeg | undefined
}

/** Clients of customers' servers: for documents, audio files and callbacks. */
export interface CustomerServers {
  readonly http: CustomerHttp
  readonly audio: AudioFiles
  readonly callbacks: CallbackOutbox
}

/**
 * Opens the directory and the keys. Rejects if a file in the data folder cannot be used. `carriers` determine
 * the target of a telephone number.
 */
export const openStore = async (
  { config, clock, log, closing, followers }: AppContext,
  carriers: Pick<CarrierDirectory, 'numberTarget'>,
  metrics: Metrics,
): Promise<OpenedStore> => {
  const { dataDir, http } = config
  const secret = readOrMakeKey(join(dataDir, 'secret.key'))
  const numberTarget: NumberTarget = (number, projectId) => carriers.numberTarget(number, projectId)
  const options = directoryOptions(config)
  const live = { recordsUrl: config.webhooks.recordsUrl }
  followers.change('records of lost calls', (next) => {
    live.recordsUrl = next.webhooks.recordsUrl
  })
  const directory = await createDirectory({ ...options, secret, clock, log, numberTarget })
  closing.add('directory', directory, (open) => open.close())
  followers.add('directory', (next, now) =>
    directory.prepareDeclared(directoryOptions(next), directoryOptions(now)),
  )
  metrics.gauge('store_connections', () => directory.connections?.open ?? 0)
  metrics.gauge('store_connections_idle', () => directory.connections?.idle ?? 0)
  metrics.gauge('store_queries_waiting', () => directory.connections?.waiting ?? 0)
  const nodeId = readOrMakeNodeId(join(dataDir, 'node.id'))
  const rows = new NodeRows(directory.store)
  const endCalls = endLostCalls({ clock, cdrUrl: () => live.recordsUrl })
  const ends = { calls: endCalls, recordings: endLostRecordings(clock), rooms: endLostRooms(clock) }
  const parts = { rows, nodeId, ends, clock, log: log.child({ part: 'nodes' }) }
  const nodes = await ClusterNodes.open(parts)
  closing.add('nodes', nodes, (open) => open.close())
  return {
    directory,
    secret,
    nodeId,
    nodes,
    endCalls,
    ...(await openTokens(directory, { secret, clock, publicHost: http.publicHost })),
    access: new ProjectAccess({ projects: directory.projects, clock }),
    states: new SessionStates(secret),
  }
}

/**
 * Opens the RTP edge, mediasoup and the sounds. Rejects if a port is in use or the mediasoup worker does not
 * start.
 */
export const openMedia = async (base: AppContext, metrics: Metrics): Promise<OpenedMedia> => {
  const { config, clock, log, closing } = base
  const { rtp, webrtc: browsers } = config.media
  const { kind, reason } = socketKind()
  // Calls work with either kind, but a relayed packet costs twice the CPU with Node's own sockets.
  if (kind === 'node')
    log.warn({ event: 'media.native-sockets-missing', reason }, "Node's own sockets used for media")
  // Its programs answer while the edge opens.
  const findingFfmpeg = openFfmpeg(base)
  const edge = closing.add('edge', await createEdge({ ...rtp, ...priorityOptions(rtp, log) }), (open) =>
    open.close(),
  )
  const ffmpeg = await findingFfmpeg
  const webrtc = closing.add(
    'webrtc',
    await createWebRtc({ edge, ...browsers, ffmpeg, composers: openComposers(base) }).catch((error) => {
      throw webRtcStartError(error, browsers)
    }),
    (open) => open.close(),
  )
  webrtc.onFailure((error) =>
    log.error({ event: 'media.mediasoup-died', err: error }, 'mediasoup process died'),
  )
  const voices = closing.add('voices', new OperatorHttp(clock, config.sip.userAgent), (http) => http.close())
  const sounds = openSounds(base, voices, metrics)
  measureMedia(metrics, edge, webrtc)
  return { edge, webrtc, sounds, ffmpeg }
}

/** Finds ffmpeg, which plays files into rooms and converts recordings; undefined if none can be used. */
const openFfmpeg = async ({ config, log }: AppContext): Promise<Ffmpeg | undefined> => {
  const found = await findFfmpeg(config.media.rooms.ffmpeg.program)
  if (typeof found !== 'string') {
    log.info({ event: 'rooms.ffmpeg', version: found.version }, 'ffmpeg found')
    return found
  }
  log.info({ event: 'rooms.ffmpeg-missing', reason: found }, 'no ffmpeg found')
  return undefined
}

/** Opens the processes that compose the pictures of rooms; undefined if they are not wanted or cannot run. */
const openComposers = ({ config, clock, log, closing }: AppContext): Composers | undefined => {
  const reason = noComposing(config)
  const pictures = reason === undefined ? 'composed' : 'speaker'
  log.info({ event: 'rooms.pictures', pictures, reason }, 'pictures of video rooms selected')
  if (reason !== undefined) return undefined
  const onDeath = (err: Error) => log.error({ event: 'rooms.composer-died', err }, 'composing process died')
  return closing.add('composers', createComposers({ clock, onDeath }), (open) => open.close())
}

/**
 * Opens the sounds. A change of settings opens new libraries; the old libraries finish sounds in preparation.
 */
const openSounds = (
  { config, clock, log, closing, followers }: AppContext,
  voices: OperatorHttp,
  metrics: Metrics,
): Sounds => {
  const made = ({ media }: Pick<Config, 'media'>) =>
    createSounds({ ...soundsOptions(media, clock, log, metrics), send: voices.send })
  const sounds = closing.add('sounds', new ReplaceableSounds(made(config)), (open) => open.close())
  const settingsOf = ({ media: { sounds, speech } }: Config) => {
    const { recogniser: _recogniser, ...spoken } = speech
    return { sounds, spoken }
  }
  followers.add('media.sounds and media.speech', (next, now) => {
    if (isDeepStrictEqual(settingsOf(next), settingsOf(now))) return undefined
    const prepared = made(next)
    return { commit: () => sounds.change(prepared), discard: () => prepared.close() }
  })
  return sounds
}

const measureMedia = (metrics: Metrics, edge: Edge, webrtc: WebRtcService): void => {
  metrics.gauge('rtp_ports', () => edge.usage().used)
  metrics.gauge('rtp_ports_quarantined', () => edge.usage().quarantined)
  metrics.total('rtp_ports_reused_total', () => edge.usage().reused)
  metrics.gauge('rtp_ports_total', () => edge.usage().total)
  metrics.gauge('media_ports', () => edge.portCount)
  metrics.gauge('media_mixers', () => edge.busy.mixers)
  metrics.gauge('media_recordings', () => edge.busy.recordings)
  metrics.gauge('media_taps', () => edge.busy.taps)
  metrics.gauge('media_detections', () => edge.busy.detections)
  metrics.gauge('webrtc_transports', () => webrtc.transports)
  metrics.gauge('composed_rooms', () => webrtc.composedRooms)
}

/**
 * Opens the recordings. Rejects if their folder cannot be created. Links to recordings start with the public
 * host and https; without a public host, with `ownUrl`, the URL of a listener.
 */
export const openRecordings = async (
  { config, clock, log, closing, followers }: AppContext,
  { directory, secret, nodeId }: OpenedStore,
  { http, callbacks, ffmpeg }: Pick<CustomerServers, 'http' | 'callbacks'> & Pick<OpenedMedia, 'ffmpeg'>,
  metrics: Metrics,
  ownUrl: () => string | undefined,
): Promise<Recordings> => {
  const { folder = join(config.dataDir, 'recordings'), ...rules } = config.media.recordings
  const { publicHost } = config.http
  const longestMs = config.limits.callDurationMs
  const base = () => linkBase(publicHost, ownUrl())
  const parts = {
    ...rules,
    folder,
    nodeId,
    longestMs,
    secret,
    base,
    http,
    callbacks,
    clock,
    metrics,
    rows: directory.recordings,
    convert: mp4Converter(ffmpeg),
  }
  const recordings = await Recordings.open({ ...parts, log: log.child({ part: 'recordings' }) })
  followers.change('media.recordings', ({ media, limits }) => {
    const { folder: _folder, ...changed } = media.recordings
    recordings.change({ ...changed, longestMs: limits.callDurationMs })
  })
  metrics.gauge('recordings', () => recordings.count)
  metrics.gauge('recordings_converting', () => recordings.converting)
  metrics.gauge('recordings_uploading', () => recordings.uploading)
  metrics.gauge('recordings_bytes', () => recordings.bytes)
  metrics.gauge('recordings_free_bytes', () => recordings.freeBytes)
  return closing.add('recordings', recordings, (open) => open.close())
}

const requestSettings = ({ limits, media }: Pick<Config, 'limits' | 'media'>) => ({
  timeoutMs: limits.documentTimeoutMs,
  allowedNetworks: limits.documentNetworks,
  cacheBytes: media.sounds.httpCache * mebibyte,
})

const audioSettings = ({ media: { sounds } }: Pick<Config, 'media'>) => ({
  ...(sounds.folder && { folder: sounds.folder }),
  maxBytes: sounds.maxSize * mebibyte,
  timeoutMs: sounds.timeoutMs,
})

/** Opens the clients of customers' servers. */
export const openCustomers = async (
  { config, clock, log, closing, followers }: AppContext,
  { directory, secret, nodeId, nodes }: OpenedStore,
  metrics: Metrics,
): Promise<CustomerServers> => {
  const signers = new Signers(config.projects, secret)
  const signer = (projectId: string) => signers.of(projectId)
  const options = { ...requestSettings(config), userAgent: config.sip.userAgent, signer, clock }
  const http = closing.add("customers' servers", new CustomerHttp(options), (open) => open.close())
  metrics.gauge('customer_circuits_open', () => http.openCircuits)
  metrics.gauge('customer_sockets', () => http.openSockets)
  const audio = new AudioFiles({ http, clock, ...audioSettings(config) })
  followers.change("customers' servers", (next) => {
    signers.change(next.projects)
    http.change(requestSettings(next))
    audio.change(audioSettings(next))
  })
  metrics.gauge('audio_fetches', () => audio.running)
  const rows = new CallbackRows(directory.store, nodeId)
  const isSure = () => nodes.holdsLease
  const parts = { rows, http, isSure, clock, metrics, log: log.child({ part: 'callbacks' }) }
  const callbacks = await CallbackOutbox.open(parts)
  nodes.onTakeover((taken) => callbacks.takeOver(taken.callbacks))
  metrics.gauge('callbacks_waiting', () => callbacks.waiting)
  metrics.gauge('callbacks_unstored', () => callbacks.unstored)
  return { http, audio, callbacks: closing.add('callbacks', callbacks, (open) => open.close()) }
}

/**
 * Opens the interpreters of documents, and the checks of documents that are sent to the API. `nodeId` names
 * this gateway to scripts.
 */
export const openHandlers = ({ clock, closing }: AppContext, nodeId: string, metrics: Metrics) => {
  const sandbox = closing.add('expressions', new Sandbox(clock), (open) => open.close())
  metrics.gauge('expressions', () => sandbox.pending)
  const documents = closing.add('documents', new DocumentReader(clock), (open) => open.close())
  const documentChecks = new DocumentChecks(documents, clock)
  metrics.gauge('documents_read', () => documents.pending + documentChecks.waiting)
  const options = { sandbox, documents, nodeId, timers: clock }
  const runAgent = createAgentRunner(options)
  const handlers = {
    xml: createXmlHandler(documents, runAgent),
    script: createScriptHandler(options),
    flow: createFlowHandler(options),
  }
  return { handlers, documentChecks, runAgent }
}

/**
 * Opens speech recognition. Returns a function that creates the recogniser of a configuration; without a
 * configured recogniser, every recognition fails. Recognitions in progress keep their recogniser.
 */
export const openRecogniser = (
  { clock, closing }: Pick<AppContext, 'clock' | 'closing'>,
  metrics: Pick<Metrics, 'gauge' | 'recognitions'>,
): ((config: Pick<Config, 'media'>) => Speech) => {
  let open: readonly VoskRecogniser[] = []
  closing.add('recognisers', undefined, () => Promise.all(open.map((each) => each.close())))
  metrics.gauge('speech_recognitions', () => open.reduce((sum, { running }) => sum + running, 0))
  const onEnd = (result: VoskResult) => metrics.recognitions.inc({ result })
  return ({ media: { speech } }) => {
    if (!speech.recogniser) return { recogniser: noRecogniser, sampleRate: 16_000 }
    const { timeoutMs: connectTimeoutMs, sampleRate, ...options } = speech.recogniser
    const recogniser = new VoskRecogniser({ ...options, connectTimeoutMs, clock, onEnd })
    open = [...open.filter(({ running }) => running > 0), recogniser]
    return { recogniser, sampleRate }
  }
}

/** Opens the streams of calls' audio to customers' servers. */
export const openStreams = (
  { config, clock, log, closing, followers }: AppContext,
  edge: Edge,
  metrics: Metrics,
): Streams => {
  const { limits, sip } = config
  const guard = new AddressGuard(limits.documentNetworks)
  followers.change('streams', (next) => guard.change(next.limits.documentNetworks))
  const streams = new Streams({ userAgent: sip.userAgent }, { edge, guard, clock, log, metrics })
  metrics.gauge('streams', () => streams.running)
  return closing.add('streams', streams, (open) => open.close())
}

/** Reads the certificates. Rejects if a file cannot be used. */
export const openCertificates = async ({
  config,
  clock,
  log,
  closing,
  followers,
}: AppContext): Promise<Certificates> => {
  const certificates = await Certificates.open(config, clock, log.child({ part: 'certificates' }))
  followers.add('certificates', (next) => certificates.prepare(next))
  return closing.add('certificates', certificates, (open) => open.close())
}

/**
 * Starts the embedded SIP agent. Returns undefined if the configuration names a drachtio-server. Rejects if a
 * port is in use.
 */
export const openAgent = async (
  { config, clock, log, closing }: AppContext,
  { certificates, refusals }: { readonly certificates: Certificates; readonly refusals: RecentRefusals },
  onFailure: OnFailure,
): Promise<SipAgent | undefined> => {
  if (config.sip.drachtio) return undefined
  const agent = await startSipAgent(agentOptions(config, certificates.material)).catch((error) => {
    throw sipStartError(error, config.sip.listen)
  })
  certificates.onChange((material) => agent.change(tlsOf(material)))
  agent.onFault((fault) =>
    log.error(
      { event: 'sip.agent-faulted', fault, part: 'SIP agent' },
      'message lost by an internal fault of the SIP agent',
    ),
  )
  const refusalLog = new AgentRefusalLog(log.child({ part: 'SIP agent' }), clock, refusals)
  agent.onRefusal((refusal) => refusalLog.take(refusal))
  agent.onDiversion((diversion) => logDiversion(log.child({ part: 'SIP agent' }), diversion))
  closing.add('refusals of the SIP agent', refusalLog, (open) => open.close())
  agent.onFailure((error) => {
    log.error({ event: 'sip.agent-died', err: error }, 'SIP agent died')
    onFailure('the SIP agent died')
  })
  return closing.add('SIP agent', agent, (open) => open.close())
}
