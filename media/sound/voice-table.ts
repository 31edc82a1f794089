import { voiceNamed, voices } from './built-in-text.ts'
import { builtIn } from './built-in-voice.ts'
import { SoundError } from './errors.ts'

/** A voice that documents may name. */
export interface VoiceEntry {
  /** Name of an HTTP voice, or `built-in`. */
  readonly engine: string
  /** As the engine names it; default the engine's own. */
  readonly voice?: string
  /** BCP 47, where a document names none. */
  readonly language?: string
}

/** Which voice speaks. */
export type VoiceChoice = VoiceEntry

/** Finds the voice that a document means. Names are compared without case. */
export class VoiceTable {
  readonly #exact = new Map<string, VoiceEntry>()
  /** The longest first, so that the closest one wins. */
  readonly #prefixes: readonly (readonly [prefix: string, entry: VoiceEntry])[]
  readonly #default: VoiceEntry

  /**
   * `table` has names, or beginnings of names such as `polly.*`; `fallback` is a name in it or a built-in voice. Throws a
   * {@link SoundError} for a fallback that is neither.
   */
  constructor(table: Readonly<Record<string, VoiceEntry>>, fallback: string) {
    const prefixes: [string, VoiceEntry][] = []
    for (const [name, entry] of Object.entries(table)) {
      const key = name.toLowerCase()
      if (key.endsWith('*')) prefixes.push([key.slice(0, -1), entry])
      else this.#exact.set(key, entry)
    }
    this.#prefixes = prefixes.sort(([a], [b]) => b.length - a.length)
    const found = this.#named(fallback) ?? builtInEntry(fallback)
    if (!found) {
      throw new SoundError(
        `Speech: one of ${voices.join(', ')}, or of the table, expected as voice, found ${fallback}`,
      )
    }
    this.#default = found
  }

  /** The voice by this name; the default for none, and for one that nobody knows: documents for other services name voices of theirs. */
  choose(name: string | undefined, language: string | undefined): VoiceChoice {
    const entry = (name && (this.#named(name) ?? this.#ofBuiltIn(name))) || this.#default
    return language ? { ...entry, language } : entry
  }

  #named(name: string): VoiceEntry | undefined {
    const key = name.trim().toLowerCase()
    return this.#exact.get(key) ?? this.#prefixes.find(([prefix]) => key.startsWith(prefix))?.[1]
  }

  /** `man` and `woman` mean no certain voice, so they leave a default behind HTTP in its place. */
  #ofBuiltIn(name: string): VoiceEntry | undefined {
    const isOwnName = voices.some((voice) => voice === name.trim().toLowerCase())
    return isOwnName || this.#default.engine === builtIn ? builtInEntry(name) : undefined
  }
}

const builtInEntry = (name: string): VoiceEntry | undefined => {
  const voice = voiceNamed(name)
  return voice && { engine: builtIn, voice }
}
