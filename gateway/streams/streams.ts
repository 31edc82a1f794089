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
import { BadStream, readTarget, type StreamTarget } from './stream-target.ts'
import { WebSocketStream } from './websocket-stream.ts'

/** What the streams work with. */
export interface StreamsDeps {
  readonly edge: Pick<Edge, 'open'>
  readonly guard: Pick<AddressGuard, 'permits'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'streamsEnded'>
  /** Value of the User-Agent header; empty: none. */
  readonly userAgent: string
  /** Longest wait for a connection, in ms; default 5 s. */
  readonly connectTimeoutMs?: number
  /** Default: the system's resolver. */
  readonly resolve?: Resolve
}

/** Octets of one message of a far side. */
const maxMessageBytes = 1 << 20

/**
 * Streams of calls' audio to customers' servers, which are reached like those of documents: at public addresses and in the allowed
 * networks alone. A stream that is lost is not begun again.
 */
export class Streams implements StreamStarter {
  readonly #parts: StreamsDeps
  readonly #lookup: Lookup
  readonly #open = new Set<AudioStream>()

  constructor(parts: StreamsDeps) {
    this.#parts = parts
    this.#lookup = guardedLookup(parts.guard, parts.resolve)
  }

  /** Streams whose connection or port is not closed yet. */
  get running(): number {
    return this.#open.size
  }

  /** Begins one. Throws {@link BadStream} for options that cannot be used; what becomes of it is told by its `ended`. */
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

  /** Stops all of them. */
  close(): void {
    for (const stream of this.#open) stream.stop()
  }

  async #note(stream: AudioStream, { callId }: StreamSource, kind: string, url: string): Promise<void> {
    const { log, metrics } = this.#parts
    const facts = { call: callId, stream: stream.id, url: redactedUrl(url) }
    log.info(facts, 'a stream is begun')
    const end = await stream.ended
    metrics.streamsEnded.inc({ kind, end: end.kind })
    if (end.kind === 'failed') log.warn({ ...facts, reason: end.reason }, 'a stream has failed')
    else log.info({ ...facts, end: end.kind }, 'a stream is over')
  }

  #webSocket(
    source: StreamSource,
    { url }: Extract<StreamTarget, { kind: 'websocket' }>,
    options: StreamOptions,
    onClosed: () => void,
  ): AudioStream {
    const { clock, log, connectTimeoutMs = 5_000 } = this.#parts
    const { callId, projectId } = source
    const { tracks = 'inbound', bidirectional = false, parameters = {} } = options
    const streamSid = randomUUID()
    const format = formatOf(options)
    return new WebSocketStream({
      source,
      bidirectional,
      clock,
      connectTimeoutMs,
      onClosed,
      socket: this.#socket(url, options),
      tracks: tapTracks[tracks],
      facts: {
        streamSid,
        callSid: callId,
        accountSid: projectId,
        parameters,
        format,
        tracks: tracks === 'both' ? ['inbound', 'outbound'] : [tracks],
      },
      onBadMessage: (reason) =>
        log.warn({ call: callId, stream: streamSid, reason }, "a stream's far side sent a bad message"),
    })
  }

  #socket(url: URL, { bearerToken }: StreamOptions): WebSocket {
    const { guard, userAgent } = this.#parts
    const literal = literalOf(url)
    // For an address nobody asks the resolver, so it is checked here.
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
      // Of Node's http, for a token that is no header.
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
      edge: this.#parts.edge,
    })
  }

  #addressOf(host: string, family: 4 | 6): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const literal = literalOf({ hostname: host })
    if (literal !== undefined && !this.#parts.guard.permits(literal)) reject(new AddressRefused(literal))
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
  `The address ${address} is not public, nor in limits.documentNetworks.`
