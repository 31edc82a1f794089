import type { AgentFunction } from '../../handlers/verbs.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { AgentBackground } from './background.ts'
import type { Fillers } from './fillers.ts'

/** Sounds for callers while functions run: a filler, and then the sound of the latest function. */
export class FunctionSounds {
  readonly #settings: Pick<AgentSettings, 'functionNamed'>
  readonly #fillers: Pick<Fillers, 'ofFunction'>
  readonly #background: Pick<AgentBackground, 'meanwhile'>
  /** Functions that run, with their sounds; undefined before the end of the filler. */
  readonly #running = new Map<string, AgentFunction['waitSound']>()
  #playing: AgentFunction['waitSound']

  constructor(
    settings: Pick<AgentSettings, 'functionNamed'>,
    fillers: Pick<Fillers, 'ofFunction'>,
    background: Pick<AgentBackground, 'meanwhile'>,
  ) {
    this.#settings = settings
    this.#fillers = fillers
    this.#background = background
  }

  /** A function is about to start. Returns a promise if it starts only after its filler. */
  began(id: string, name: string): Promise<void> | undefined {
    const { waitSound, waitForFillers } = this.#settings.functionNamed(name) ?? {}
    const said = this.#fillers.ofFunction(name)
    if (waitSound) void this.#wait(id, waitSound, said)
    return waitForFillers ? said : undefined
  }

  /** A function has ended. */
  ended(id: string): void {
    if (this.#running.delete(id)) this.#play()
  }

  async #wait(id: string, sound: AgentFunction['waitSound'], said: Promise<void> | undefined): Promise<void> {
    this.#running.set(id, undefined)
    await said
    if (!this.#running.has(id)) return
    // The latest function is the last one of the map.
    this.#running.delete(id)
    this.#running.set(id, sound)
    this.#play()
  }

  #play(): void {
    const sound = [...this.#running.values()].findLast((each) => each !== undefined)
    if (sound === this.#playing) return
    this.#playing = sound
    this.#background.meanwhile(sound && { ...sound, volumeDb: 0 })
  }
}
