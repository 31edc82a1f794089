import type { MediaClock, MediaTimer } from '../../clock.ts'
import { FrameAssembler } from '../../compose/frame-assembler.ts'
import { guard } from '../../guard.ts'
import { type Arrival, Placement } from '../../rooms/placement.ts'
import { RtpTime, StreamTimeline } from '../../rooms/stream-timeline.ts'
import { headerBytes, timestampOf } from '../../rtp/packet.ts'
import type { RoomFrame } from '../../types.ts'
import { ownVideo } from '../sdp/video-format.ts'
import type { PacketSource } from './feed.ts'
import { FrameOrigins } from './frame-origins.ts'
import { SourceSwitch } from './source-switch.ts'

/** Time between two checks for overdue packets and lost pictures, in ms. */
const beatMs = 100
/** Number of checks between two repetitions of what may have been lost: 2 s. */
const beatsPerRefresh = 20
/** Number of checks between two key frames: 10 s, so that a player can seek. */
const beatsPerKey = 100

/** Way in which frames are placed in time. */
export type FramePlacing = 'by arrival' | 'by sender'

/**
 * Frames of a program: one continuous VP8 stream of changing sources, without a viewer. Reports the frames in
 * their order; the first one, and the first one after a loss, is a key frame.
 *
 * `by sender` places frames by the reports of their senders; the first ones wait for a report, see
 * {@link Placement}. The others are reported at once, with the time of their arrival.
 */
export class ProgramFrames {
  readonly #clock: MediaClock
  readonly #switch: SourceSwitch
  readonly #assembler: FrameAssembler
  readonly #time = new RtpTime(ownVideo.clockRate)
  readonly #timeline = new StreamTimeline()
  /** Origins of the frames, which are placed by their senders; undefined if they are placed by arrival. */
  readonly #origins: FrameOrigins | undefined
  readonly #placement: Placement<Arrival>
  #beats = 0
  #beat: MediaTimer | undefined

  constructor(clock: MediaClock, onFrame: (frame: RoomFrame) => void, placing: FramePlacing = 'by arrival') {
    this.#clock = clock
    this.#origins = placing === 'by sender' ? new FrameOrigins() : undefined
    const report = guard(onFrame)
    this.#placement = new Placement((at, { data }) => {
      const size = sizeOfKeyFrame(data)
      report({ at, data, ...(size && { size }) })
    })
    this.#switch = new SourceSwitch({
      clock,
      send: (packet, source, timestamp = timestampOf(packet)) => {
        // Padding belongs to no frame.
        if (packet.length > headerBytes) this.#origins?.add(timestampOf(packet), source, timestamp)
        this.#assembler.receive(clock.now(), packet)
      },
    })
    this.#assembler = new FrameAssembler({
      ssrc: this.#switch.ssrc,
      payloadType: ownVideo.payloadType,
      onFrame: (data, now, timestamp) => this.#report(data, now, timestamp),
      onKeyNeeded: () => this.#switch.requestKeyFrame(),
    })
    this.#wait()
  }

  /** Shows a source; undefined shows the plain picture. */
  show(feed: PacketSource | undefined): void {
    // The first report comes the sooner.
    if (this.#origins) feed?.followSender?.()
    this.#switch.show(feed)
  }

  /** Requests a key frame. */
  requestKeyFrame(): void {
    this.#switch.requestKeyFrame()
  }

  /** Reports the frames that wait for a report of their sender. */
  flush(): void {
    this.#placement.flush()
  }

  /** Ends the stream. Idempotent. */
  close(): void {
    this.#beat?.cancel()
    this.#switch.stop()
  }

  #report(data: Buffer, now: number, timestamp: number): void {
    const origin = this.#origins?.of(timestamp)
    this.#placement.add({
      arrivedAt: now,
      at: this.#timeline.at(now, this.#time.ms(timestamp)),
      timestamp: origin?.timestamp ?? timestamp,
      clock: origin?.source?.followSender?.(),
      data,
    })
  }

  #wait(): void {
    this.#beat = this.#clock.after(beatMs, () => this.#onBeat())
  }

  #onBeat(): void {
    this.#wait()
    this.#assembler.tick(this.#clock.now())
    this.#placement.tick(this.#clock.now())
    this.#beats++
    if (this.#beats % beatsPerKey === 0) this.#switch.requestKeyFrame()
    else if (this.#beats % beatsPerRefresh === 0) this.#switch.refresh()
  }
}

/** Returns the size of the picture of a VP8 key frame (RFC 6386 section 9.1); undefined for other frames. */
const sizeOfKeyFrame = (data: Uint8Array): { width: number; height: number } | undefined => {
  const frame = Buffer.from(data.buffer, data.byteOffset, data.length)
  const hasStartCode = frame.length >= 10 && frame.readUIntBE(3, 3) === 0x9d012a
  if (!hasStartCode || frame[0]! & 1) return undefined
  const width = frame.readUInt16LE(6) & 0x3fff
  const height = frame.readUInt16LE(8) & 0x3fff
  // A file cannot have a picture without a size (RFC 9559).
  return width > 0 && height > 0 ? { width, height } : undefined
}
