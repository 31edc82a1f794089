import { randomUUID } from 'node:crypto'
import type { AddressGuard } from '@trunkline/sip-agent/address-guard'
import { WebSocket } from 'ws'
import { redactedUrl } from '../../handlers/common/urls.ts'
import type { StreamOptions } from '../../handlers/verbs.ts'
import type { Edge } from '../../media/types.ts'
import { AddressRefused } from '../callbacks/answers.ts'
import { guardedLookup, type Lookup, literalOf, type Resolve } from '../callbacks/guarded-lookup.ts'
import type { AudioStream, StreamSource, StreamStarter } from '../calls/verbs/call-streams.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/metrics.ts'
import { RtpStream, tapTracks } from './rtp-stream.ts'
import { formatOf } from './stream-format.ts'
import type { StreamFacts } from './stream-messages.ts'
import { BadStream, readTarget, type StreamTarget } from './stream-target.ts'
import { WebSocketStream } from './websocket-stream.ts'

/** Options of {@link Streams}. */
export interface StreamsOptions {
  /** Value of the User-Agent header; empty: no header. */
  readonly userAgent: string
  /** Maximum wait for a connection, in ms; default 5 s. */
  readonly connectTimeoutMs?: number
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/** Collaborators of {@link Streams}. */
export interface StreamsDeps {
  readonly edge: Pick<Edge, 'open'>
  readonly guard: Pick<AddressGuard, 'permits'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'streamsEnded'>
}

/** Maximum size of a message from the server of a stream, in octets. */
const maxMessageBytes = 1 << 20

/**
 * Streams of calls' audio to customers' servers. The servers must have public addresses or be in the allowed
 * networks, as for documents. A lost stream is not restarted.
 */
export class Streams implements StreamStarter {
  readonly #options: StreamsOptions
  readonly #deps: StreamsDeps
  readonly #lookup: Lookup
  readonly #open = new Set<AudioStream>()

  constructor(options: StreamsOptions, deps: StreamsDeps) {
    this.#options = options
    this.#deps = deps
    this.#lookup = guardedLookup(deps.guard, options.resolve)
  }

  /** Number of streams with an open connection or port. */
  get running(): number {
    return this.#open.size
  }

  /** Starts a stream. Throws {@link BadStream} for invalid options; its `ended` reports later failures. */
  start(source: StreamSource, options: StreamOptions): AudioStream {
    const target = readTarget(options)
    const stream: AudioStream =
      target.kind === 'websocket'
        ? this.#webSocket(source, target, options, () => this.#open.delete(stream))
        : this.#rtp(source, target, options, () => this.#open.delete(stream))
    this.#open.add(stream)
    void this.#note(stream, source, target.kind, options.url)
    return stream
  }

  /** Stops all streams. */
  close(): void {
    for (const stream of this.#open) stream.stop()
  }

  async #note(stream: AudioStream, { callId }: StreamSource, kind: string, url: string): Promise<void> {
    const { log, metrics } = this.#deps
    const facts = { call: callId, stream: stream.id, url: redactedUrl(url) }
    log.info({ event: 'stream.started', ...facts }, 'stream started')
    const end = await stream.ended
    metrics.streamsEnded.inc({ kind, end: end.kind })
    if (end.kind === 'failed')
      log.warn({ event: 'stream.failed', ...facts, reason: end.reason }, 'stream failed')
    else log.info({ event: 'stream.ended', ...facts, end: end.kind }, 'stream ended')
  }

  #webSocket(
    source: StreamSource,
    { url }: Extract<StreamTarget, { kind: 'websocket' }>,
    options: StreamOptions,
    onClosed: () => void,
  ): AudioStream {
    const { clock, log } = this.#deps
    const { connectTimeoutMs = 5_000 } = this.#options
    const { callId, projectId } = source
    const { tracks = 'inbound', bidirectional = false, parameters = {} } = options
    const streamSid = randomUUID()
    const format = formatOf(options)
    const facts: StreamFacts = {
      streamSid,
      callSid: callId,
      accountSid: projectId,
      parameters,
      format,
      tracks: tracks === 'both' ? ['inbound', 'outbound'] : [tracks],
    }
    const onBadMessage = (reason: string) =>
      log.warn(
        { event: 'stream.message-rejected', call: callId, stream: streamSid, reason },
        'message from the server of a stream rejected',
      )
    return new WebSocketStream(
      { facts, tracks: tapTracks[tracks], bidirectional, connectTimeoutMs },
      { socket: this.#socket(url, options), source, clock, onBadMessage, onClosed },
    )
  }

  #socket(url: URL, { bearerToken }: StreamOptions): WebSocket {
    const { guard } = this.#deps
    const { userAgent } = this.#options
    const literal = literalOf(url)
    // An IP address is not resolved, so it is checked here.
    if (literal !== undefined && !guard.permits(literal)) throw new BadStream(notPermitted(literal))
    try {
      return new WebSocket(url, {
        headers: {
          ...(userAgent && { 'user-agent': userAgent }),
          ...(bearerToken && { authorization: `Bearer ${bearerToken}` }),
        },
        perMessageDeflate: false,
        maxPayload: maxMessageBytes,
        lookup: this.#lookup,
      })
    } catch (error) {
      // Node's http module throws for a token that is not a valid header value.
      throw new BadStream(
        `The stream cannot be opened: ${(error as NodeJS.ErrnoException).code ?? 'it is refused'}.`,
      )
    }
  }

  #rtp(
    source: StreamSource,
    target: Extract<StreamTarget, { kind: 'rtp' }>,
    options: StreamOptions,
    onClosed: () => void,
  ): AudioStream {
    const resolve = (host: string, family: 4 | 6) => this.#addressOf(host, family)
    return new RtpStream({
      id: randomUUID(),
      source,
      target,
      options,
      resolve,
      onClosed,
      edge: this.#deps.edge,
    })
  }

  #addressOf(host: string, family: 4 | 6): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const literal = literalOf({ hostname: host })
    if (literal !== undefined && !this.#deps.guard.permits(literal)) reject(new AddressRefused(literal))
    else if (literal !== undefined) resolve(literal)
    else
      this.#lookup(host, { all: true }, (error, addresses) => {
        if (error) return reject(error)
        const fitting = Array.isArray(addresses) && addresses.find((each) => each.family === family)
        if (fitting) resolve(fitting.address)
        else reject(new Error(`the name ${host} has no address of IPv${family}`))
      })
    return promise
  }
}

const notPermitted = (address: string): string =>
  `The address ${address} is not public, and not in limits.documentNetworks.`
