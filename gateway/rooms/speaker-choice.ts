import type { SteadyClock, Timer } from '../core/clock.ts'

/** Minimum time between two changes of the speaker, in ms. */
const minStayMs = 1500

/** Speech of a member that talks. */
interface Talker {
  /** Speech in ms up to the present pause; 0: perhaps a short word. */
  voicedMs: number
  /** Start of the present speech; undefined in a pause, and in a short word. */
  voiceAt: number | undefined
}

/** Collaborators of a {@link SpeakerChoice}. */
export interface SpeakerChoiceDeps {
  readonly clock: SteadyClock
  /** Called after voice or time has changed the speaker. */
  readonly onChange: () => void
  /** Called when a candidate begins to talk, who may be the next speaker. */
  readonly onExpected: (id: string) => void
}

/**
 * Choice of the member in the picture. A member that speaks more than a short word becomes the speaker if
 * the present one is silent. Cross-talk keeps the present speaker, and a silent speaker stays until
 * another one talks.
 */
export class SpeakerChoice {
  readonly #clock: SteadyClock
  readonly #onChange: () => void
  readonly #onExpected: (id: string) => void
  readonly #talkers = new Map<string, Talker>()
  #candidates: readonly string[] = []
  /** The speaker and those before it, without repetition. All are candidates. */
  #recent: readonly string[] = []
  #changedAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined

  constructor({ clock, onChange, onExpected }: SpeakerChoiceDeps) {
    this.#clock = clock
    this.#onChange = onChange
    this.#onExpected = onExpected
  }

  /** Ids of the present speaker and of those before it. Empty only without candidates. */
  get recent(): readonly string[] {
    return this.#recent
  }

  /** Speaker before the present one, or else the first other candidate. */
  get other(): string | undefined {
    return this.#recent[1] ?? this.#candidates.find((id) => id !== this.#recent[0])
  }

  /**
   * Sets the members that can be the speaker, in order of preference. If the speaker is no longer among them,
   * another one replaces it at once.
   */
  setCandidates(ids: readonly string[]): void {
    const present = this.#recent[0]
    this.#candidates = ids
    this.#recent = this.#recent.filter((id) => ids.includes(id))
    if (present === undefined || this.#recent[0] !== present) {
      if (present !== undefined) this.#changedAt = this.#clock.uptime()
      const next = this.#longestTalker() ?? this.#recent[0] ?? ids[0]
      if (next !== undefined) this.#prefer(next)
    }
    this.#choose()
  }

  /**
   * Reports whether a member talks. `hasVoice`: false in a short word, and in a pause that has not ended the
   * talking yet.
   */
  setTalking(id: string, isTalking: boolean, hasVoice = isTalking): void {
    if (isTalking) {
      const now = this.#clock.uptime()
      const isNew = !this.#talkers.has(id) && id !== this.#recent[0]
      if (isNew && this.#candidates.includes(id)) this.#onExpected(id)
      const talker = this.#talkers.get(id) ?? { voicedMs: 0, voiceAt: undefined }
      this.#talkers.set(id, {
        voicedMs: voicedMs(talker, now),
        voiceAt: hasVoice ? now : undefined,
      })
    } else this.#talkers.delete(id)
    this.#update()
  }

  /** Forgets the voice of a member that left. */
  forget(id: string): void {
    this.#talkers.delete(id)
  }

  /** Stops the timer. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#talkers.clear()
  }

  #update(): void {
    if (this.#choose()) this.#onChange()
  }

  /** Changes the speaker if that is due, else sets the timer. Returns whether the speaker changed. */
  #choose(): boolean {
    this.#timer?.cancel()
    this.#timer = undefined
    const present = this.#recent[0]
    if (present === undefined || this.#talkers.has(present)) return false
    const now = this.#clock.uptime()
    const next = this.#longestTalker()
    const stayMs = this.#changedAt + minStayMs - now
    if (next !== undefined && stayMs <= 0) {
      this.#changedAt = now
      this.#prefer(next)
      return true
    }
    if (next !== undefined) this.#timer = this.#clock.after(stayMs, () => this.#update())
    return false
  }

  #prefer(id: string): void {
    this.#recent = [id, ...this.#recent.filter((each) => each !== id)]
  }

  /** Returns the candidate with the most speech. */
  #longestTalker(): string | undefined {
    const now = this.#clock.uptime()
    let longest: string | undefined
    let longestMs = -1
    for (const [id, talker] of this.#talkers) {
      const ms = voicedMs(talker, now)
      const hasSpoken = talker.voiceAt !== undefined || ms > 0
      if (!hasSpoken || ms <= longestMs || !this.#candidates.includes(id)) continue
      longest = id
      longestMs = ms
    }
    return longest
  }
}

const voicedMs = ({ voicedMs: before, voiceAt }: Talker, now: number): number =>
  before + (voiceAt === undefined ? 0 : now - voiceAt)
