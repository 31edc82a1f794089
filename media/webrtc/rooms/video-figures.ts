import type { types } from 'mediasoup'
import type { RoomReceivedVideo, RoomSentVideo } from '../../types.ts'

type Stat = types.ConsumerStat | types.ProducerStat

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0)
const most = (values: readonly number[]): number => values.reduce((max, each) => Math.max(max, each), 0)

/** Returns what the streams have in common: the sum of the rates, and the worst loss and round trip time. */
const figuresOf = (stats: readonly Stat[]): RoomSentVideo => {
  const roundTripMs = most(stats.map(({ roundTripTime }) => roundTripTime ?? 0))
  return {
    bitRate: Math.round(sum(stats.map(({ bitrate }) => bitrate))),
    loss: most(stats.map(({ fractionLost }) => fractionLost)) / 256,
    ...(roundTripMs > 0 && { roundTripMs }),
  }
}

/** Returns the figures of a camera, all its encodings together; undefined before its first packet. */
export const sentFigures = async (
  producer: Pick<types.Producer, 'getStats'>,
): Promise<RoomSentVideo | undefined> => {
  const stats = (await producer.getStats()).filter(({ type }) => type === 'inbound-rtp')
  return stats.length > 0 ? figuresOf(stats) : undefined
}

/** Returns the figures of what a viewer receives; undefined before the first packet. */
export const receivedFigures = async (
  consumers: readonly Pick<types.Consumer, 'getStats'>[],
): Promise<RoomReceivedVideo | undefined> => {
  const all = await Promise.all(consumers.map((consumer) => consumer.getStats()))
  const stats = all.flat().filter(({ type }) => type === 'outbound-rtp')
  return stats.length > 0 ? { ...figuresOf(stats), streams: stats.length } : undefined
}
