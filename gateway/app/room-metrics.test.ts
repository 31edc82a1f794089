import { describe, expect, it } from 'vitest'
import type { MemberFigures } from '../calls/room/room-figures.ts'
import { Metrics } from '../core/metrics.ts'
import { gaugeFigures, observeFigures } from './room-metrics.ts'

const figures: readonly MemberFigures[] = [
  {
    at: 1,
    audio: {
      sentBitRate: 40_000,
      receivedBitRate: 50_000,
      sentLoss: 0.01,
      receivedLoss: 0.04,
      jitterMs: 2,
      roundTripMs: 60,
    },
    sent: { bitRate: 600_000, loss: 0.02 },
    received: {
      bitRate: 250_000,
      loss: 0.1,
      roundTripMs: 90,
      streams: 1,
      isPaused: false,
      layer: 'low',
      framesPerSecond: 15,
    },
  },
  { at: 1, received: { bitRate: 900_000, loss: 0, streams: 3 } },
  { at: 1, received: { bitRate: 0, loss: 0, streams: 1, isPaused: true, framesPerSecond: 0 } },
  { at: 1, received: { bitRate: 1_000_000, loss: 0, streams: 1, isPaused: false } },
]

describe('the metrics of the media of rooms', () => {
  it('have the present figures of all members, and return to zero', async () => {
    const metrics = new Metrics()
    let present = figures
    gaugeFigures(metrics, () => present)
    const values = async () =>
      [...(await metrics.text()).matchAll(/^trunkline_room_(?:viewers|bits_per_second)\{.*\} (\d+)$/gm)].map(
        ([, value]) => Number(value),
      )
    expect(await values()).toEqual([0, 1, 1, 1, 1, 40_000, 50_000, 600_000, 2_150_000])
    present = []
    expect(new Set(await values())).toEqual(new Set([0]))
  })

  it('count each sample', async () => {
    const metrics = new Metrics()
    for (const each of figures) observeFigures(metrics, each)
    const text = await metrics.text()
    for (const line of [
      'room_loss_ratio_count{kind="audio",direction="sent"} 1',
      'room_loss_ratio_count{kind="audio",direction="received"} 1',
      'room_loss_ratio_sum{kind="audio",direction="received"} 0.04',
      'room_loss_ratio_count{kind="video",direction="sent"} 1',
      'room_loss_ratio_count{kind="video",direction="received"} 4',
      'room_round_trip_seconds_sum{kind="audio"} 0.06',
      'room_round_trip_seconds_sum{kind="video"} 0.09',
      'room_frames_per_second_count 2',
    ])
      expect(text).toContain(`trunkline_${line}\n`)
  })
})
