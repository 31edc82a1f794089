import type { types } from 'mediasoup'
import { backOffMs } from '../../back-off.ts'
import type { MediaTimer, Timers } from '../../clock.ts'
import type { ComposedPicture } from '../../types.ts'
import { loopback, openOnRelayPort } from '../relay-ports.ts'
import { layerFor, layersOf } from '../tracks/layer-choice.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { consumerCapabilities } from '../video-parameters.ts'

/** A stream and the picture that shall receive it. */
interface Stream {
  readonly picture: Pick<ComposedPicture, 'addSource'>
  /** Id of the source in the picture. */
  readonly id: string
  readonly source: VideoSource
}

/** A stream that a composed picture shall receive. */
export interface ComposerInput extends Stream {
  readonly clock: Timers
  /** Width in pixels of the source in the picture. */
  readonly width: number
  readonly onFault: (fault: Error) => void
}

/** A stream that a composed picture receives. */
export interface OpenInput {
  /** Changes the width, which chooses the encoding of a source with simulcast. */
  resize(width: number): void
  /**
   * Opens the stream again, because its packets give no picture. Each time in a row waits longer, as after
   * failures, and only the first one is reported. No effect while it waits to open.
   */
  reopen(): void
  /** Ends the row of reopenings: the stream has a picture. */
  pictured(): void
  /** Ends the stream. Idempotent. */
  close(): void
}

/**
 * Sends a stream to the process that composes a picture, unencrypted on 127.0.0.1. Opens in the background.
 * If that fails, it opens again after 0.5 s, doubled up to 30 s; only the first failure in a row is reported.
 * A stream or a router that has ended is no fault. When the caller closes it, it also removes the source from
 * the picture.
 */
export const openComposerInput = ({ clock, onFault, ...stream }: ComposerInput): OpenInput => {
  const { producer, line } = stream.source
  const layers = layersOf(stream.source)
  let layer = layerFor(stream.width, layers)
  let attempt: Attempt | undefined
  let failures = 0
  let retry: MediaTimer | undefined
  /** Number of reopenings in a row, and the wait for the next one. The stream flows meanwhile. */
  let reopenings = 0
  let reopening: MediaTimer | undefined
  let isClosed = false
  const isOver = () => isClosed || producer.closed || line.router.closed
  const endReopening = (): void => {
    reopening?.cancel()
    reopening = undefined
  }
  const open = (): void => {
    endReopening()
    retry = undefined
    attempt?.close()
    if (isOver()) return
    const current = new Attempt(stream, layer)
    attempt = current
    current.done.then(
      () => {
        failures = 0
      },
      (error: Error) => {
        current.close()
        if (isOver() || attempt !== current) return
        if (++failures === 1) onFault(error)
        retry = clock.after(backOffMs(failures), open)
      },
    )
  }
  open()
  return {
    resize: (width) => {
      const wanted = layerFor(width, layers)
      if (wanted === layer) return
      layer = wanted
      attempt?.setLayer(layer)
    },
    reopen: () => {
      if (retry || reopening || isOver()) return
      if (reopenings === 0) onFault(new Error(`video of ${stream.id}: its packets give no picture`))
      reopening = clock.after(backOffMs(reopenings++), open)
    },
    pictured: () => {
      reopenings = 0
      endReopening()
    },
    close: () => {
      isClosed = true
      retry?.cancel()
      endReopening()
      attempt?.close()
    },
  }
}

/** One attempt to send a stream to the process. */
class Attempt {
  /** Settles when the stream flows, or after {@link close}. Rejects if it cannot be opened. */
  readonly done: Promise<void>
  #layer: number
  #isClosed = false
  #consumer: types.Consumer | undefined
  #transport: types.PlainTransport | undefined

  constructor(stream: Stream, layer: number) {
    this.#layer = layer
    this.done = this.#open(stream)
  }

  setLayer(layer: number): void {
    this.#layer = layer
    if (!this.#isClosed) this.#consumer?.setPreferredLayers({ spatialLayer: layer }).catch(() => undefined)
  }

  close(): void {
    this.#isClosed = true
    this.#transport?.close()
  }

  async #open({ picture, id, source }: Stream): Promise<void> {
    const { router, worker } = source.line
    const transport = await openOnRelayPort(worker.relayPorts, router, (listenInfo) =>
      router.createPlainTransport({ listenInfo, rtcpMux: true, comedia: false }),
    )
    this.#transport = transport
    if (this.#isClosed) return transport.close()
    const consumer = await this.#consume(transport, source)
    if (this.#isClosed) return
    const ssrc = consumer.rtpParameters.encodings?.[0]?.ssrc
    const payloadType = consumer.rtpParameters.codecs[0]?.payloadType
    if (ssrc === undefined || payloadType === undefined) throw new Error('mediasoup gave no SSRC')
    const from = { port: transport.tuple.localPort }
    const { port } = await picture.addSource(id, { ssrc, payloadType, from })
    if (this.#isClosed) return
    await transport.connect({ ip: loopback, port })
    await consumer.resume()
  }

  async #consume(
    transport: types.PlainTransport,
    { producer, format }: VideoSource,
  ): Promise<types.Consumer> {
    const first = this.#layer
    // Paused until the process expects it: a key frame before that would be lost.
    const consumer = await transport.consume({
      producerId: producer.id,
      rtpCapabilities: consumerCapabilities(format),
      paused: true,
      preferredLayers: { spatialLayer: first },
    })
    this.#consumer = consumer
    // mediasoup would keep a consumer whose transport closed meanwhile.
    if (this.#isClosed) consumer.close()
    // The width may have changed meanwhile.
    else if (this.#layer !== first) await consumer.setPreferredLayers({ spatialLayer: this.#layer })
    return consumer
  }
}
