import type { HeardAudio, PortStats, RoomVideoFigures } from '../../../media/types.ts'
import type { SteadyClock, Timer } from '../../core/clock.ts'

/** Audio of a member. Directions are those of the member. Rates are in bit/s. */
export interface AudioFigures {
  readonly sentBitRate: number
  readonly receivedBitRate: number
  /** Share of lost packets of the sent audio since the sample before, 0 to 1. */
  readonly sentLoss: number
  /** Interarrival jitter of the sent audio in ms. */
  readonly jitterMs: number
  /** Share of lost packets of the received audio since the sample before, 0 to 1; absent without reports. */
  readonly receivedLoss?: number
  /** Round trip time in ms; absent before the first report. */
  readonly roundTripMs?: number
}

/** Figures of a member. */
export interface MemberFigures extends Pick<RoomVideoFigures, 'sent' | 'received'> {
  /** ms since the epoch. */
  readonly at: number
  /** Absent without audio, and in the first sample. */
  readonly audio?: AudioFigures
}

/** Member with what its figures come from. */
export interface MeasuredMember {
  readonly id: string
  readonly isPhone: boolean
  readonly port: { stats(): Promise<PortStats> } | undefined
}

/** Collaborators of {@link RoomFigures}. */
export interface RoomFiguresDeps {
  readonly clock: SteadyClock
  readonly members: () => readonly MeasuredMember[]
  readonly isPresent: (id: string) => boolean
  /** Returns the audio that a browser receives, by its own reports. */
  readonly heardOf: (id: string) => Promise<HeardAudio | undefined>
  readonly videoOf: (id: string) => Promise<RoomVideoFigures>
  /** Called with each sample. */
  readonly onSample: (figures: MemberFigures) => void
}

/** Time between two ticks in ms, and the number of ticks in which each member is sampled once. */
const tickMs = 1000
const ticks = 5

interface Sample {
  readonly figures: MemberFigures
  readonly stats: PortStats | undefined
  readonly heard: HeardAudio | undefined
  readonly uptime: number
}

/**
 * Figures of the members of a room, each one sampled once in 5 s. Each tick samples a part of the members, so
 * that no tick of a large room is long.
 */
export class RoomFigures {
  readonly #deps: RoomFiguresDeps
  readonly #samples = new Map<string, Sample>()
  /** Tick of the latest sample of each member, also of one that failed. */
  readonly #sampledAt = new Map<string, number>()
  #tick = 0
  #timer: Timer | undefined

  constructor(deps: RoomFiguresDeps) {
    this.#deps = deps
    this.#plan()
  }

  /** Latest figures of all members. */
  get all(): readonly MemberFigures[] {
    return [...this.#samples.values()].map(({ figures }) => figures)
  }

  /** Returns the latest figures of a member; undefined before its first sample, and after it has left. */
  of(id: string): MemberFigures | undefined {
    return this.#samples.get(id)?.figures
  }

  /** Forgets a member. */
  remove(id: string): void {
    this.#samples.delete(id)
    this.#sampledAt.delete(id)
  }

  /** Ends the sampling. Idempotent. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#samples.clear()
    this.#sampledAt.clear()
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(tickMs, () => {
      this.#plan()
      this.#tick++
      for (const member of this.#due()) void this.#sample(member)
    })
  }

  /** Returns the members whose sample is old, the oldest first: at most a fifth of all members. */
  #due(): readonly MeasuredMember[] {
    const members = this.#deps.members()
    const sampledAt = ({ id }: MeasuredMember) => this.#sampledAt.get(id) ?? -ticks
    return members
      .filter((member) => this.#tick - sampledAt(member) >= ticks)
      .sort((a, b) => sampledAt(a) - sampledAt(b))
      .slice(0, Math.ceil(members.length / ticks))
  }

  async #sample({ id, isPhone, port }: MeasuredMember): Promise<void> {
    const { clock, isPresent, heardOf, videoOf, onSample } = this.#deps
    this.#sampledAt.set(id, this.#tick)
    try {
      const [stats, heardByPage, video] = await Promise.all([
        port?.stats(),
        isPhone ? undefined : heardOf(id),
        videoOf(id),
      ])
      // The member or the room may have gone meanwhile.
      if (!this.#timer || !isPresent(id)) return
      const uptime = clock.uptime()
      const heard = isPhone ? stats && heardByPhone(stats) : heardByPage
      const audio = stats && audioOf({ stats, heard, uptime }, this.#samples.get(id))
      const figures: MemberFigures = { at: clock.now(), ...video, ...(audio && { audio }) }
      this.#samples.set(id, { figures, stats, heard, uptime })
      onSample(figures)
    } catch {
      // Its port, its stream or its mediasoup process has ended: the former figures are no longer true.
      this.#samples.delete(id)
    }
  }
}

/** Returns the audio that a telephone receives, by its reports. Those of browsers end at mediasoup. */
const heardByPhone = ({ sent, far, roundTripMs }: PortStats): HeardAudio | undefined =>
  far && { sent, lost: far.lost, ...(roundTripMs !== undefined && { roundTripMs }) }

/** Returns the audio since the sample before; undefined without one. */
const audioOf = (
  { stats, heard, uptime }: Omit<Sample, 'figures' | 'stats'> & { readonly stats: PortStats },
  before: Sample | undefined,
): AudioFigures | undefined => {
  const old = before?.stats
  // A new port counts from zero.
  if (!old || stats.received < old.received || uptime <= before.uptime) return undefined
  const rate = (octets: number) => Math.max(0, Math.round((octets * 8000) / (uptime - before.uptime)))
  const lost = Math.max(0, stats.lost - old.lost)
  const expected = stats.received - old.received + lost
  const receivedLoss = heardLoss(heard, before.heard)
  return {
    sentBitRate: rate(stats.octetsReceived - old.octetsReceived),
    receivedBitRate: rate(stats.octetsSent - old.octetsSent),
    sentLoss: expected > 0 ? lost / expected : 0,
    jitterMs: stats.jitterMs,
    ...(receivedLoss !== undefined && { receivedLoss }),
    ...(heard?.roundTripMs !== undefined && { roundTripMs: heard.roundTripMs }),
  }
}

/**
 * Returns the share of packets that were lost on the way to the member. Undefined if none were sent, and for
 * a new stream. A report is late: it may count packets that were sent before the sample before.
 */
const heardLoss = (heard: HeardAudio | undefined, old: HeardAudio | undefined): number | undefined => {
  if (!heard || !old || heard.sent <= old.sent) return undefined
  return Math.min(1, Math.max(0, heard.lost - old.lost) / (heard.sent - old.sent))
}
