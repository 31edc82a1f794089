import { randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import type { Direction, HeardAudio, MediaPort } from '../types.ts'
import { WebRtcError } from './errors.ts'
import type { MLine } from './m-line.ts'
import { loopback, openOnRelayPort } from './relay-ports.ts'
import { codecsOf } from './routers.ts'
import { type AudioFormat, eventsBeside } from './sdp/negotiate.ts'
import { type MediaSection, midUri } from './sdp/session-description.ts'
import type { Stream } from './sdp/write-sdp.ts'
import type { SenderReports } from './sender-reports.ts'
import type { MediaWorker } from './worker-supervisor.ts'

/** Place of a relay in a worker. */
interface RelayPlace {
  readonly router: types.Router
  readonly plain: types.PlainTransport
  readonly fromEdge: types.Producer
}

/** Audio between an edge port and a browser's m-line: one plain transport on 127.0.0.1, unencrypted. */
export class Relay {
  /** Audio format of the session; without telephone-events if too many routers exist already. */
  readonly format: AudioFormat
  readonly #direction: Direction
  readonly #port: MediaPort
  #place: RelayPlace
  /** Browser's preferences and telephone-events, as last set by {@link setFar}. */
  #far: Pick<AudioFormat, 'opus' | 'events'> = { events: [] }
  #toBrowser: types.Consumer | undefined
  #isDeaf = false
  readonly #watchers = new Set<() => void>()
  #fromBrowser: { readonly producer: types.Producer; readonly line: MLine; readonly key: string } | undefined

  private constructor(place: RelayPlace, port: MediaPort, format: AudioFormat, direction: Direction) {
    this.#place = place
    this.#port = port
    this.format = format
    this.#direction = direction
  }

  /**
   * Connects a loopback port of the edge to the worker and sets the port's far end. The caller remains the
   * owner of the port. `direction`: seen from the gateway. Rejects with `no_ports`.
   */
  static async open(
    worker: MediaWorker,
    port: MediaPort,
    wanted: AudioFormat,
    direction: Direction = 'sendrecv',
  ): Promise<Relay> {
    const { format, router } = await routerFor(worker, wanted)
    const relay = new Relay(await placeIn(worker, router, port, format), port, format, direction)
    try {
      relay.setFar(format)
      return relay
    } catch (error) {
      relay.close()
      throw error
    }
  }

  /** Router that the browser's m-line must use. */
  get router(): types.Router {
    return this.#place.router
  }

  /**
   * Continues in another worker after the death of the former one, with the same edge port and format. The
   * m-line follows by {@link sendTo} and {@link receiveFrom}. Rejects with `no_ports`.
   */
  async moveTo(worker: MediaWorker): Promise<void> {
    const { format, router } = await routerFor(worker, this.format)
    if (format.events.length !== this.format.events.length)
      throw new WebRtcError('no_ports', 'no router is left for audio with telephone-events')
    const place = await placeIn(worker, router, this.#port, format)
    this.#place = place
    this.#toBrowser = undefined
    this.#fromBrowser = undefined
    try {
      this.setFar(this.#far)
    } catch (error) {
      // The next attempt opens another one.
      place.plain.close()
      throw error
    }
  }

  /** Sets the port's far end, with the browser's Opus preferences and telephone-event formats. */
  setFar(far: Pick<AudioFormat, 'opus' | 'events'>): void {
    this.#far = far
    const { opus = {}, events } = far
    const { codec, payloadType } = this.format
    const keys = eventsBeside({ codec, events })
    this.#port.setFar(
      { codecs: [{ codec, payloadType }], telephoneEvents: events },
      {
        address: loopback,
        port: this.#place.plain.tuple.localPort,
        rtcpMux: true,
        codec,
        payloadType,
        direction: this.#direction,
        ...(codec === 'opus' && { opus }),
        ...(keys && { telephoneEvent: keys.payloadType, telephoneEventRate: keys.clockRate }),
      },
    )
  }

  /** Sends the edge port's audio to the m-line. Returns the stream for the local SDP. */
  async sendTo(line: MLine): Promise<Stream> {
    const consumer = await line.transport.consume({
      producerId: this.#place.fromEdge.id,
      rtpCapabilities: this.capabilities,
      paused: this.#isDeaf,
    })
    this.#toBrowser = consumer
    if (consumer.paused !== this.#isDeaf) await this.#applyDeaf(consumer)
    const { encodings, rtcp } = consumer.rtpParameters
    const ssrc = encodings?.[0]?.ssrc
    if (ssrc === undefined) throw new Error('mediasoup gave no SSRC')
    return { track: consumer.id, source: { ssrc, cname: rtcp?.cname ?? consumer.id } }
  }

  /** Sets whether the browser receives no audio; applies to later m-lines too. */
  async setDeaf(deaf: boolean): Promise<void> {
    this.#isDeaf = deaf
    if (this.#toBrowser) await this.#applyDeaf(this.#toBrowser)
  }

  /**
   * Receives the browser's audio from the m-line. Called after each offer; acts only if the stream or its
   * m-line has changed.
   */
  async receiveFrom(line: MLine, section: MediaSection): Promise<void> {
    const source = section.ssrc ?? (section.midExtension === undefined ? undefined : 'mid')
    // The browser sends nothing; otherwise the offer would have been rejected.
    if (source === undefined) return
    const key = `${source} ${section.mid} ${section.midExtension ?? ''}`
    if (this.#fromBrowser?.line === line && this.#fromBrowser.key === key) return
    // Two producers of one transport must not share a mid.
    this.#fromBrowser?.producer.close()
    this.#fromBrowser = undefined
    const producer = await line.transport.produce({
      kind: 'audio',
      rtpParameters: this.#parametersOf(section),
    })
    this.#fromBrowser = { producer, line, key }
    for (const watcher of [...this.#watchers]) watcher()
    await this.receive(producer)
  }

  /** Receives the audio of a producer of the {@link router}, in the {@link format}. */
  async receive(producer: types.Producer): Promise<void> {
    await this.#place.plain.consume({ producerId: producer.id, rtpCapabilities: this.capabilities })
  }

  /** Audio that the browser sends; undefined if it sends none. */
  get fromBrowser(): types.Producer | undefined {
    return this.#fromBrowser?.producer
  }

  /** Reports of the browser; undefined if it sends no audio. */
  get reports(): SenderReports | undefined {
    return this.#fromBrowser?.line.reports
  }

  /** Calls `watcher` when {@link fromBrowser} is another one, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Returns what the browser hears; undefined before the first packet, and without a browser that hears. */
  async heard(): Promise<HeardAudio | undefined> {
    const consumer = this.#toBrowser
    if (!consumer || consumer.closed) return undefined
    const stat = (await consumer.getStats()).find(({ type }) => type === 'outbound-rtp')
    if (!stat) return undefined
    const { packetCount: sent, packetsLost: lost, roundTripTime = 0 } = stat
    return { sent, lost, ...(roundTripTime > 0 && { roundTripMs: roundTripTime }) }
  }

  /** Closes the relay. Idempotent. */
  close(): void {
    this.#place.plain.close()
  }

  // Sent even if nothing seems to change: of two concurrent changes, the worker executes the later one last.
  async #applyDeaf(consumer: types.Consumer): Promise<void> {
    try {
      await (this.#isDeaf ? consumer.pause() : consumer.resume())
    } catch (error) {
      if (!consumer.closed) throw error
    }
  }

  /** Capabilities of consumers. Header extensions are omitted, because the router's ids differ. */
  get capabilities(): types.RtpCapabilities {
    return {
      codecs: codecsOf(this.format).map(({ payloadType, ...codec }) => ({
        kind: 'audio' as const,
        ...codec,
        preferredPayloadType: payloadType,
      })),
      headerExtensions: [],
    }
  }

  #parametersOf(section: MediaSection): types.RtpParameters {
    const { mid, midExtension, ssrc } = section
    return {
      mid,
      codecs: codecsOf(this.format),
      headerExtensions: midExtension === undefined ? [] : [{ uri: midUri, id: midExtension }],
      encodings: [ssrc === undefined ? {} : { ssrc }],
    }
  }
}

/** Connects a loopback port of the edge to a router of the worker. */
const placeIn = async (
  worker: MediaWorker,
  router: types.Router,
  port: MediaPort,
  format: AudioFormat,
): Promise<RelayPlace> => {
  const plain = await openOnRelayPort(worker.relayPorts, router, (listenInfo) =>
    router.createPlainTransport({ listenInfo, rtcpMux: true, comedia: false }),
  )
  try {
    await plain.connect({ ip: loopback, port: port.port })
    const fromEdge = await plain.produce({
      kind: 'audio',
      rtpParameters: {
        codecs: codecsOf(format),
        encodings: [{ ssrc: port.ssrc }],
        rtcp: { cname: randomUUID() },
      },
    })
    return { router, plain, fromEdge }
  } catch (error) {
    plain.close()
    throw error
  }
}

/** Returns the router for the format; without telephone-events if too many routers exist already. */
const routerFor = async (
  { routers }: MediaWorker,
  wanted: AudioFormat,
): Promise<{ readonly format: AudioFormat; readonly router: types.Router }> => {
  const router = wanted.events.length > 0 ? await routers.audioWithEvents(wanted) : undefined
  if (router) return { format: wanted, router }
  const number = wanted.codec === 'opus' ? wanted.payloadType : undefined
  return { format: { ...wanted, events: [] }, router: await routers.audio(number) }
}
