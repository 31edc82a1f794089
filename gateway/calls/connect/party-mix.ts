import type { MediaPort, Mixer } from '../../../media/types.ts'
import type { Log } from '../../core/log.ts'
import type { Leg } from '../leg/leg.ts'

/** Mixed audio of a call with more than two parties. The mixer is open only while it is needed. */
export class PartyMix {
  readonly #openMixer: () => Promise<Mixer>
  readonly #log: Log
  #wanted: ReadonlySet<MediaPort> = new Set()
  #mixer: Mixer | undefined
  #ports = new Set<MediaPort>()
  #isOpening = false

  constructor(openMixer: () => Promise<Mixer>, log: Log) {
    this.#openMixer = openMixer
    this.#log = log
  }

  /** Mixes the audio of these legs, in place of earlier ones. Their ports must not be joined. */
  update(legs: readonly Leg[]): void {
    this.#wanted = new Set(legs.flatMap(({ port }) => port ?? []))
    if (this.#wanted.size > 0 && !this.#mixer) void this.#open()
    else this.#apply()
  }

  async #open(): Promise<void> {
    if (this.#isOpening) return
    this.#isOpening = true
    try {
      this.#mixer = await this.#openMixer()
      this.#apply()
    } catch (error) {
      this.#log.warn({ event: 'call.mix-failed', reason: String(error) }, 'parties of a call not mixed')
    } finally {
      this.#isOpening = false
    }
  }

  #apply(): void {
    const mixer = this.#mixer
    if (!mixer) return
    for (const port of this.#ports) if (!this.#wanted.has(port)) mixer.remove(port)
    for (const port of this.#wanted) if (!this.#ports.has(port)) mixer.add(port, { canSpeak: true })
    this.#ports = new Set(this.#wanted)
    if (this.#ports.size > 0) return
    this.#mixer = undefined
    void mixer.close()
  }
}
