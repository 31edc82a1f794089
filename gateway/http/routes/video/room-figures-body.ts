import type { RoomReceivedVideo, RoomSentVideo } from '../../../../media/types.ts'
import type { AudioFigures, MemberFigures } from '../../../calls/room/room-figures.ts'
import { timeText } from '../shared/field-schemas.ts'

const bitRate = { type: 'integer', description: 'bit/s.' } as const
const loss = { type: 'number', description: 'Share of lost packets, 0 to 1.' } as const
const roundTrip = { type: ['number', 'null'], description: 'ms; null if unknown.' } as const

/** Returns the schema of an object that may be null, with all properties required. */
const orNull = (description: string, properties: object) => ({
  type: ['object', 'null'],
  description,
  required: Object.keys(properties),
  properties,
})

const video = { bit_rate: bitRate, loss, round_trip_ms: roundTrip }

/** Schema of the figures of a member in responses. */
export const figuresSchema = orNull(
  'Figures of the media of a present member, at most 5 s old; null before the first sample, and on another ' +
    'gateway.',
  {
    measured_at: { type: 'string', description: 'Time of the sample, ISO 8601.' },
    audio: orNull('Audio that the member sends and receives; null without.', {
      sent_bit_rate: bitRate,
      received_bit_rate: bitRate,
      sent_loss: { ...loss, description: 'Share of lost packets of the sent audio, 0 to 1.' },
      received_loss: {
        type: ['number', 'null'],
        description: 'Share of lost packets of the received audio by its reports, 0 to 1; null if unknown.',
      },
      jitter_ms: { type: 'number', description: 'Jitter of the sent audio in ms.' },
      round_trip_ms: roundTrip,
    }),
    video_sent: orNull('Camera or screen that the member sends, all sizes together; null without.', video),
    video_received: orNull('Picture, or separate cameras, that the member receives; null without.', {
      ...video,
      streams: { type: 'integer', description: 'Number of streams; 1 for the picture of the room.' },
      layer: {
        type: ['string', 'null'],
        description: '`high` or `low`: size of the picture; null if it has only one, and for cameras.',
      },
      paused: {
        type: ['boolean', 'null'],
        description: 'Whether the picture pauses because the path has room for audio only; null for cameras.',
      },
      frames_per_second: {
        type: ['integer', 'null'],
        description: 'Frames of the picture in the last second, as sent; null for cameras.',
      },
    }),
  },
)

/** Returns the figures of a member for responses. */
export const figuresBody = (figures: MemberFigures | undefined) =>
  figures
    ? {
        measured_at: timeText(figures.at),
        audio: figures.audio ? audioBody(figures.audio) : null,
        video_sent: figures.sent ? videoBody(figures.sent) : null,
        video_received: figures.received ? receivedBody(figures.received) : null,
      }
    : null

const audioBody = (audio: AudioFigures) => ({
  sent_bit_rate: audio.sentBitRate,
  received_bit_rate: audio.receivedBitRate,
  sent_loss: audio.sentLoss,
  received_loss: audio.receivedLoss ?? null,
  jitter_ms: audio.jitterMs,
  round_trip_ms: audio.roundTripMs ?? null,
})

const videoBody = ({ bitRate: bit_rate, loss, roundTripMs }: RoomSentVideo) => ({
  bit_rate,
  loss,
  round_trip_ms: roundTripMs ?? null,
})

const receivedBody = (received: RoomReceivedVideo) => ({
  ...videoBody(received),
  streams: received.streams,
  layer: received.layer ?? null,
  paused: received.isPaused ?? null,
  frames_per_second: received.framesPerSecond ?? null,
})
