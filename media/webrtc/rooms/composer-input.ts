import type { types } from 'mediasoup'
import type { ComposedPicture } from '../../types.ts'
import { loopback, openOnRelayPort } from '../relay-ports.ts'
import { layerFor, layersOf } from '../tracks/layer-choice.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { consumerCapabilities } from '../video-parameters.ts'

/** A stream that a composed picture shall receive. */
export interface ComposerInput {
  readonly picture: Pick<ComposedPicture, 'addSource'>
  /** Id of the source in the picture. */
  readonly id: string
  readonly source: VideoSource
  /** Width in pixels of the source in the picture. */
  readonly width: number
  readonly onFault: (fault: Error) => void
}

/** A stream that a composed picture receives. */
export interface OpenInput {
  /** Changes the width, which chooses the encoding of a source with simulcast. */
  resize(width: number): void
  /** Ends the stream. Idempotent. */
  close(): void
}

/**
 * Sends a stream to the process that composes a picture, unencrypted on 127.0.0.1. Opens in the background.
 * A stream or a router that has ended is no fault. When the caller closes it, it also removes the source from
 * the picture.
 */
export const openComposerInput = ({ picture, id, source, width, onFault }: ComposerInput): OpenInput => {
  const { producer, line, format } = source
  const { router, worker } = line
  const layers = layersOf(source)
  let layer = layerFor(width, layers)
  let isClosed = false
  let input: types.Consumer | undefined
  let transport: types.PlainTransport | undefined
  const run = async (): Promise<void> => {
    transport = await openOnRelayPort(worker.relayPorts, router, (listenInfo) =>
      router.createPlainTransport({ listenInfo, rtcpMux: true, comedia: false }),
    )
    if (isClosed) return transport.close()
    const first = layer
    // Paused until the process expects it: a key frame before that would be lost.
    const consumer = await transport.consume({
      producerId: producer.id,
      rtpCapabilities: consumerCapabilities(format),
      paused: true,
      preferredLayers: { spatialLayer: first },
    })
    input = consumer
    // The width may have changed meanwhile.
    if (layer !== first) await consumer.setPreferredLayers({ spatialLayer: layer })
    const ssrc = consumer.rtpParameters.encodings?.[0]?.ssrc
    const payloadType = consumer.rtpParameters.codecs[0]?.payloadType
    if (ssrc === undefined || payloadType === undefined) throw new Error('mediasoup gave no SSRC')
    if (isClosed) return
    const from = { port: transport.tuple.localPort }
    const { port } = await picture.addSource(id, { ssrc, payloadType, from })
    if (isClosed) return
    await transport.connect({ ip: loopback, port })
    await consumer.resume()
  }
  run().catch((error: Error) => {
    transport?.close()
    if (!isClosed && !producer.closed && !router.closed) onFault(error)
  })
  return {
    resize: (next) => {
      const wanted = layerFor(next, layers)
      if (wanted === layer) return
      layer = wanted
      input?.setPreferredLayers({ spatialLayer: layer }).catch(() => undefined)
    },
    close: () => {
      isClosed = true
      transport?.close()
    },
  }
}
