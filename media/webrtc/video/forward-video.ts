import type { types } from 'mediasoup'
import { WebRtcError } from '../errors.ts'
import type { MLine } from '../m-line.ts'
import { loopback, openOnRelayPort } from '../relay-ports.ts'
import type { VideoFormat } from '../sdp/video-format.ts'
import { consumerCapabilities } from '../video-parameters.ts'
import type { VideoSource } from './incoming-video.ts'

/** M-line of a browser that currently receives video. A new object for each change. */
export interface VideoSink {
  readonly line: MLine
  readonly format: VideoFormat
}

/** A source that is forwarded to a sink. */
export interface VideoForwarding {
  readonly source: VideoSource
  readonly sink: VideoSink
  readonly consumer: types.Consumer
  /** Ends the forwarding. Idempotent. */
  close(): void
}

/**
 * Forwards a source to a sink. mediasoup requests a key frame itself, at once or when the sink's transport is
 * connected. Rejects with `no_common_codec` if the codecs differ, and with `no_ports` if no port is left for
 * a pipe.
 */
export const forwardVideo = async (
  source: VideoSource,
  sink: VideoSink,
  preferredLayers?: types.ConsumerLayers,
): Promise<VideoForwarding> => {
  if (source.format.name !== sink.format.name)
    throw new WebRtcError(
      'no_common_codec',
      `video: ${source.format.name} of the one, ${sink.format.name} of the other`,
    )
  const pipe = source.line.router === sink.line.router ? undefined : await openPipe(source, sink.line)
  try {
    const consumer = await sink.line.transport.consume({
      producerId: pipe?.producer.id ?? source.producer.id,
      rtpCapabilities: consumerCapabilities(sink.format),
      ...(preferredLayers && { preferredLayers }),
    })
    const close = () => {
      consumer.close()
      pipe?.close()
    }
    return { source, sink, consumer, close }
  } catch (error) {
    pipe?.close()
    throw error
  }
}

/**
 * Pipes a source into another router, in the same or another worker. mediasoup's own `pipeToRouter` keeps its
 * pipes as long as the routers, and never retries a failed one. Each forwarded source therefore has its own
 * pipe.
 */
export const openPipe = async ({ producer, line }: VideoSource, to: VideoSource['line']) => {
  const ends: types.PipeTransport[] = []
  const close = () => {
    for (const end of ends) end.close()
  }
  try {
    for (const { router, worker } of [line, to]) {
      const open = (listenInfo: types.TransportListenInfo) =>
        router.createPipeTransport({ listenInfo, enableSctp: false })
      ends.push(await openOnRelayPort(worker.relayPorts, router, open))
    }
    const [from, into] = ends as [types.PipeTransport, types.PipeTransport]
    await Promise.all([connect(from, into), connect(into, from)])
    const { kind, rtpParameters } = await from.consume({ producerId: producer.id })
    return { producer: await into.produce({ kind, rtpParameters }), close }
  } catch (error) {
    close()
    throw error
  }
}

const connect = (one: types.PipeTransport, other: types.PipeTransport): Promise<void> =>
  one.connect({ ip: loopback, port: other.tuple.localPort })
