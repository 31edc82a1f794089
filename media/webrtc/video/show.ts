import type { types } from 'mediasoup'
import { WebRtcError } from '../errors.ts'
import type { Line } from '../line.ts'
import { loopback, openOnRelayPort } from '../relay-ports.ts'
import type { VideoFormat } from '../sdp/video.ts'
import type { Source } from './incoming.ts'
import { consumerCapabilities } from './parameters.ts'

/** A browser's m-line that takes video at this time. Another object whenever it is another one. */
export interface Sink {
  readonly line: Line
  readonly format: VideoFormat
}

/** A source that goes to a sink. */
export interface Shown {
  readonly source: Source
  readonly sink: Sink
  readonly consumer: types.Consumer
  /** Idempotent. */
  close(): void
}

/**
 * Sends a source to a sink. mediasoup asks the source for a key frame by itself, at once or when the sink's transport is connected. Rejects
 * with `no_common_codec` where the two browsers have different codecs, and with `no_ports` where no port is left for a pipe.
 */
export const show = async (source: Source, sink: Sink): Promise<Shown> => {
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
 * Brings a source into another router, in the same worker or another one. mediasoup's own `pipeToRouter` keeps its pipes as long as the
 * routers live, and one that could not be opened once can never be opened again: each source that is shown has a pipe of its own.
 */
const openPipe = async ({ producer, line }: Source, to: Line) => {
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
