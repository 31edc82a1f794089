/** Metrics of the media of rooms. They have no labels for rooms and members, whose number has no limit. */
import type { MemberFigures } from '../calls/room/room-figures.ts'
import type { Metrics } from '../core/metrics.ts'

/** Counts a sample of a member. */
export const observeFigures = (
  { roomLoss, roomRoundTrip, roomFrames }: Metrics,
  { audio, sent, received }: MemberFigures,
): void => {
  if (audio) roomLoss.observe({ kind: 'audio', direction: 'sent' }, audio.sentLoss)
  if (audio?.receivedLoss !== undefined)
    roomLoss.observe({ kind: 'audio', direction: 'received' }, audio.receivedLoss)
  if (audio?.roundTripMs !== undefined) roomRoundTrip.observe({ kind: 'audio' }, audio.roundTripMs / 1000)
  if (sent) roomLoss.observe({ kind: 'video', direction: 'sent' }, sent.loss)
  if (!received) return
  const { loss, roundTripMs, framesPerSecond } = received
  roomLoss.observe({ kind: 'video', direction: 'received' }, loss)
  if (roundTripMs !== undefined) roomRoundTrip.observe({ kind: 'video' }, roundTripMs / 1000)
  if (framesPerSecond !== undefined) roomFrames.observe(framesPerSecond)
}

/** Declares the gauges of the present figures of all members. */
export const gaugeFigures = (metrics: Metrics, read: () => readonly MemberFigures[]): void => {
  metrics.gauges('room_viewers', ['picture'], () => {
    const all = read().flatMap(({ received }) => (received ? [pictureOf(received)] : []))
    return pictures.map((picture) => ({
      labels: { picture },
      value: all.filter((each) => each === picture).length,
    }))
  })
  metrics.gauges('room_bits_per_second', ['kind', 'direction'], () => {
    const all = read()
    return rates.map(([kind, direction, rate]) => ({
      labels: { kind, direction },
      value: all.reduce((total, figures) => total + (rate(figures) ?? 0), 0),
    }))
  })
}

const rates = [
  ['audio', 'sent', ({ audio }) => audio?.sentBitRate],
  ['audio', 'received', ({ audio }) => audio?.receivedBitRate],
  ['video', 'sent', ({ sent }) => sent?.bitRate],
  ['video', 'received', ({ received }) => received?.bitRate],
] as const satisfies readonly (readonly [string, string, (figures: MemberFigures) => number | undefined])[]

const pictures = ['high', 'low', 'paused', 'single', 'cameras'] as const

const pictureOf = ({ isPaused, layer }: NonNullable<MemberFigures['received']>): (typeof pictures)[number] =>
  isPaused === undefined ? 'cameras' : isPaused ? 'paused' : (layer ?? 'single')
